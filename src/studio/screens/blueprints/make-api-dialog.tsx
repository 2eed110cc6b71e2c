import { Checkbox, MultiSelect, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { useLocation } from 'wouter'
import type { FieldRecord } from '../../../shared/api/blueprints/blueprint-fields.ts'
import { resourceOperations } from '../../../shared/resource/resource.ts'
import { importBlueprintFile } from '../../api/blueprint-transfer.ts'
import { setActive } from '../../api/blueprints.ts'
import { call } from '../../api/request.ts'
import { fieldsQuery } from '../../api/storages.ts'
import { FormDialog } from '../../controls/form-dialog.tsx'
import { useDraft } from '../../controls/use-draft.ts'
import { blueprintsTexts } from '../../texts/blueprints.ts'
import { apiFile, canFilter } from './api-file.ts'

interface MakeApiProps {
  readonly opened: boolean
  readonly onClose: () => void
  /** Its name. */
  readonly storage: string
}

/** Makes a blueprint with a resource of the storage, activates it, and opens it. */
export function MakeApiDialog({ opened, onClose, storage }: MakeApiProps) {
  const [, go] = useLocation()
  const { data: fields = [] } = useQuery({ ...fieldsQuery(storage), enabled: opened && storage !== '' })
  const { draft, set } = useDraft({
    uri: storage,
    operations: [...resourceOperations] as readonly string[],
    filters: [] as readonly string[],
    orders: [] as readonly string[],
    readers: 'loggedin',
    writers: 'loggedin',
  })
  const submit = async () => {
    const file = apiFile({ storage, ...draft }, fields)
    const { guid: blueprint } = await importBlueprintFile(file, { stays: () => undefined })
    try {
      await setActive(blueprint, true)
    } catch (error) {
      await call('DELETE', `/blueprints/${blueprint}`).catch(() => undefined)
      throw error
    }
    go(`/blueprints/${blueprint}`)
  }
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={blueprintsTexts.makeAnApiFor(storage)}
      action={blueprintsTexts.makeAndActivate}
      submit={submit}
    >
      <TextInput
        label={blueprintsTexts.address}
        description={blueprintsTexts.servedAtApiV1(draft.uri)}
        required
        data-autofocus
        value={draft.uri}
        onChange={(event) => set('uri', event.currentTarget.value)}
      />
      <Checkbox.Group
        label={blueprintsTexts.operations}
        value={[...draft.operations]}
        onChange={(operations) => set('operations', operations)}
      >
        <Stack gap={6} mt={6}>
          {resourceOperations.map((operation) => (
            <Checkbox key={operation} value={operation} label={words[operation]} />
          ))}
        </Stack>
      </Checkbox.Group>
      <FieldNames
        label={blueprintsTexts.filters}
        description={blueprintsTexts.filtersHelp}
        names={fields.filter(canFilter)}
        chosen={draft.filters}
        onChange={(names) => set('filters', names)}
      />
      <FieldNames
        label={blueprintsTexts.orders}
        description={blueprintsTexts.ordersHelp}
        names={fields.filter(canFilter)}
        chosen={draft.orders}
        onChange={(names) => set('orders', names)}
      />
      <Who
        label={blueprintsTexts.apiReaders}
        value={draft.readers}
        onChange={(readers) => set('readers', readers)}
      />
      <Who
        label={blueprintsTexts.writers}
        help={blueprintsTexts.apiScopesHelp}
        value={draft.writers}
        onChange={(writers) => set('writers', writers)}
      />
    </FormDialog>
  )
}

const words = {
  list: blueprintsTexts.listGet,
  read: blueprintsTexts.readOneGet,
  create: blueprintsTexts.createPost,
  change: blueprintsTexts.changePut,
  remove: blueprintsTexts.removeDelete,
} as const

interface WhoProps {
  readonly label: string
  readonly help?: string
  readonly value: string
  readonly onChange: (who: string) => void
}

function Who({ label, help, value, onChange }: WhoProps) {
  const id = useId()
  return (
    <Stack gap={4}>
      <Text size="sm" fw={500} id={id}>
        {label}
      </Text>
      <SegmentedControl
        aria-labelledby={id}
        value={value}
        onChange={onChange}
        data={[
          { value: 'loggedin', label: blueprintsTexts.signedInUsers },
          { value: 'public', label: blueprintsTexts.everyone },
        ]}
      />
      {help === undefined ? null : (
        <Text size="xs" c="dimmed">
          {help}
        </Text>
      )}
    </Stack>
  )
}

interface FieldNamesProps {
  readonly label: string
  readonly description: string
  readonly names: readonly FieldRecord[]
  readonly chosen: readonly string[]
  readonly onChange: (names: string[]) => void
}

function FieldNames({ label, description, names, chosen, onChange }: FieldNamesProps) {
  if (names.length === 0) return null
  return (
    <MultiSelect
      label={label}
      description={description}
      data={names.map(({ name }) => name)}
      value={[...chosen]}
      maxValues={8}
      onChange={onChange}
    />
  )
}

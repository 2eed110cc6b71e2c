import { Checkbox, MultiSelect, Stack, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import type { FieldRecord } from '../../../shared/api/blueprints/blueprint-fields.ts'
import { resourceOperations } from '../../../shared/resource/resource.ts'
import { groupsQuery } from '../../api/account.ts'
import { fieldsQuery } from '../../api/storages.ts'
import { FormDialog } from '../../controls/form-dialog.tsx'
import { useDraft } from '../../controls/hooks.ts'
import { blueprintsTexts } from '../../texts/blueprints.ts'
import { type Access, withHolders } from './access/application-access.ts'
import { grantAccess, noGroups, WhoMay } from './access/who-may.tsx'
import { apiFile, canFilter } from './api-file.ts'

const transfer = () => import('../../api/blueprint-transfer.ts')

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
    access: undefined as Access | undefined,
  })
  const { data: groups = noGroups } = useQuery({ ...groupsQuery, enabled: opened, retry: false })
  const access = withHolders(storage, draft.access, groups)
  const submit = async () => {
    await grantAccess(storage, access, groups)
    const file = apiFile({ storage, ...draft, access }, fields)
    const { importActive } = await transfer()
    go(`/blueprints/${await importActive(file)}`)
  }
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={blueprintsTexts.makeAnApiFor(storage)}
      action={blueprintsTexts.makeAndActivate}
      submit={submit}
      fetchAhead={transfer}
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
      <WhoMay
        storage={storage}
        access={access}
        onChange={(next) => set('access', next)}
        everyoneWrites
        later
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

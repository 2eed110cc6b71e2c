import { Anchor, Badge, Button, Code, Group, Progress, Text, TextInput, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import type { FieldRecord } from '../../../../shared/api/blueprints/blueprint-fields.ts'
import type { StorageRecord } from '../../../../shared/api/data/storages.ts'
import type { Job } from '../../../../shared/api/operate/queues.ts'
import { isJsonObject } from '../../../../shared/json.ts'
import { queryClient } from '../../../api/query-client.ts'
import { call } from '../../../api/request.ts'
import { fieldsQuery, inOrder } from '../../../api/storages.ts'
import { RemoveAction } from '../../../controls/actions.tsx'
import { useOpened } from '../../../controls/hooks.ts'
import { Icon } from '../../../controls/icon.tsx'
import { CardTable } from '../../../controls/lists/card-table.tsx'
import type { Column } from '../../../controls/lists/record-table.tsx'
import { notifyFailed } from '../../../controls/notify.ts'
import { openAddress } from '../../../controls/save-file.ts'
import { EmptyState, ErrorNotice, LoadingScreen } from '../../../controls/states.tsx'
import { dataTexts } from '../../../texts/data.ts'
import { fieldsTexts } from '../../../texts/fields.ts'
import { StorageRulesDialog } from '../storage-menu.tsx'
import { askToRemoveField } from './ask-to-remove-field.ts'
import { FieldDialog } from './field-dialog.tsx'
import { bodyOfField, type FieldDraft, newField } from './field-draft.ts'
import { FieldKindSelect } from './field-form.tsx'
import { storedKindLabel } from './field-kinds.ts'
import { type NeededDraft, NeededInput } from './needed-inputs.tsx'
import { rulesInWords } from './rules-in-words.ts'

/** The fields of one storage, in their order, and a line that adds one. */
export function StorageFields({ storage }: { readonly storage: StorageRecord }) {
  const { data, error, refetch } = useQuery({ ...fieldsQuery(storage.name), retry: false })
  const [open, show] = useOpened()
  const [words] = useSearchParams()
  const [begun, begin] = useState<BegunField>(nothingBegun)
  if (error) return <ErrorNotice error={error} title={dataTexts.couldNotLoadFields} onRetry={refetch} />
  if (!data) return <LoadingScreen />
  const fields = inOrder(data)
  const address = `/data/storages/${storage._meta.guid}`
  return (
    <>
      <NewField storage={storage.name} fields={fields} begun={begun} begin={begin} />
      {fields.length === 0 ? (
        <div className="surface">
          <EmptyState icon="data" title={dataTexts.noFields}>
            <Text size="sm">{dataTexts.noFieldsText}</Text>
          </EmptyState>
        </div>
      ) : (
        <CardTable
          label={dataTexts.fieldsOf(storage.name)}
          columns={columns}
          records={fields.map((field) => ({ field, href: openAddress(address, words, field._meta.guid) }))}
          keyOf={({ field }) => field._meta.guid}
          minWidth={560}
        />
      )}
      <StorageConstraints storage={storage} />
      <FieldDialog
        key={open}
        guid={open === 'advice' ? '' : open}
        begin={{ ...begun, storage: storage.name, order: String(nextOrder(fields)) }}
        onClose={() => {
          if (open === 'new') begin(nothingBegun)
          show('')
        }}
      />
    </>
  )
}

/** Conditions between the fields, where one looks for them. */
function StorageConstraints({ storage }: { readonly storage: StorageRecord }) {
  const { constraints } = storage
  const [isRuling, rule] = useDisclosure(false)
  return (
    <section>
      <Group justify="space-between" mt="lg" mb="xs">
        <Title order={2} size="h4">
          {dataTexts.constraints}
        </Title>
        <Button size="xs" variant="default" onClick={rule.open}>
          {dataTexts.changeConstraints}
        </Button>
      </Group>
      {constraints.length === 0 ? null : (
        <div className="surface">
          {constraints.map(({ rule: condition, message, field }) => (
            <Group key={condition} p="sm" gap="sm">
              <Code>{condition}</Code>
              <Text size="sm">{message}</Text>
              {field === undefined ? null : <Badge color="gray">{field}</Badge>}
            </Group>
          ))}
        </div>
      )}
      <Text size="xs" c="dimmed" mt={6}>
        {dataTexts.constraintsPlace}
      </Text>
      {isRuling ? <StorageRulesDialog onClose={rule.close} storage={storage} /> : null}
    </section>
  )
}

interface FieldRow {
  readonly field: FieldRecord
  readonly href: string
}

const columns: readonly Column<FieldRow>[] = [
  { id: 'field', label: dataTexts.field, render: (row) => <FieldName {...row} /> },
  {
    id: 'label',
    label: dataTexts.label,
    render: ({ field: { label } }) =>
      label && (
        <Text size="sm" lineClamp={2} title={label}>
          {label}
        </Text>
      ),
  },
  {
    id: 'type',
    label: dataTexts.type,
    width: 170,
    render: ({ field }) => <Badge color="gray">{storedKindLabel(field)}</Badge>,
  },
  { id: 'rules', label: dataTexts.rules, render: ({ field }) => <FieldRules field={field} /> },
  {
    id: 'remove',
    label: '',
    width: 48,
    render: ({ field }) => (
      <RemoveAction label={dataTexts.removeTheRulesOf(field.name)} onClick={() => askToRemoveField(field)} />
    ),
  },
]

function FieldName({ field, href }: FieldRow) {
  const { name, help } = field
  return (
    <div>
      <Anchor component={Link} href={href} ff="monospace">
        {name}
      </Anchor>
      {help ? (
        <Text size="xs" c="dimmed" lineClamp={2} title={help}>
          {help}
        </Text>
      ) : null}
      <MigrationProgress field={field} />
    </div>
  )
}

function FieldRules({ field }: Pick<FieldRow, 'field'>) {
  const { required, unique, reference, computed } = field
  const words = rulesInWords({ ...field, unique: false, reference: null, computed: null })
  // On a phone a card leaves out what is empty.
  if (!required && !unique && !reference && !computed && words === '') return null
  return (
    <Group gap={6}>
      {required ? <Badge color="sand">{dataTexts.required}</Badge> : null}
      {unique ? <Badge color="petrol">{dataTexts.uniqueText}</Badge> : null}
      {reference ? <Badge color="petrol">{dataTexts.refersTo(reference.storage)}</Badge> : null}
      {computed ? <Badge color="gray">{dataTexts.computed}</Badge> : null}
      <Text size="sm">{words}</Text>
    </Group>
  )
}

/** What the line holds that adds a field; its form begins with that. */
type BegunField = Pick<FieldDraft, 'name'> & NeededDraft
const nothingBegun: BegunField = {
  ...{ name: '', type: 'string', currency: '', choices: [], items: '', refersTo: '' },
}

interface NewFieldProps {
  readonly storage: string
  readonly fields: readonly FieldRecord[]
  readonly begun: BegunField
  readonly begin: (begun: BegunField) => void
}

/** A name, a type and what the type needs, and Enter: the rest of a field can be set later. */
function NewField({ storage, fields, begun, begin }: NewFieldProps) {
  const input = useRef<HTMLInputElement>(null)
  const [, show] = useOpened()
  const add = useMutation({
    // One after the other, in the order in which they were entered.
    scope: { id: `fields of ${storage}` },
    mutationFn: (sent: BegunField) => {
      const now = queryClient.getQueryData(fieldsQuery(storage).queryKey) ?? fields
      const draft = { ...newField, ...sent, storage, order: String(nextOrder(now)) }
      return call('POST', '/blueprintfields', { body: bodyOfField(draft) })
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['fields'] }),
    onError: (error, sent) => {
      if (input.current?.value === '') begin(sent)
      else notifyFailed(`${dataTexts.fieldNotAdded}: ${sent.name}`, error)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // At once: the name of the next field may be typed before the reply is there.
    begin({ ...nothingBegun, type: begun.type, currency: begun.currency })
    input.current?.focus()
    add.mutate(begun)
  }
  return (
    <form onSubmit={submit}>
      <Group mb="sm" gap="sm" align="flex-end">
        <TextInput
          ref={input}
          label={dataTexts.newField}
          placeholder={dataTexts.name}
          required
          withAsterisk={false}
          autoFocus={fields.length === 0}
          value={begun.name}
          onChange={(event) => begin({ ...begun, name: event.currentTarget.value })}
        />
        <FieldKindSelect
          label={dataTexts.type}
          draft={begun}
          usualCurrency={usualCurrency(fields)}
          onChange={(typed) => begin({ ...begun, ...typed })}
        />
        <NeededInput draft={begun} set={(one, value) => begin({ ...begun, [one]: value })} />
        <Button type="submit" aria-busy={add.isPending} leftSection={<Icon name="plus" size={16} />}>
          {dataTexts.add}
        </Button>
        <Button variant="default" ml="auto" onClick={() => show('new')}>
          {dataTexts.moreSettings}
        </Button>
      </Group>
      {add.error ? <ErrorNotice error={add.error} title={dataTexts.fieldNotAdded} /> : null}
    </form>
  )
}

/** Behind all that have a number, so that fields stand in the order in which they were added. */
function nextOrder(fields: readonly FieldRecord[]): number {
  return Math.max(0, ...fields.map(({ order }) => (typeof order === 'number' ? Math.ceil(order) : 0))) + 1
}

/** The currency of the storage's other amounts, the last first. */
function usualCurrency(fields: readonly FieldRecord[]): string | undefined {
  for (const { validation_rules: rules } of fields.toReversed())
    if (isJsonObject(rules) && typeof rules.currency === 'string') return rules.currency
  return undefined
}

/** How far the stored documents have followed a change of the field. */
function MigrationProgress({ field }: { readonly field: FieldRecord }) {
  const { migration, _meta } = field
  const { data } = useQuery({
    queryKey: ['queues', 'progress', migration?.job ?? ''],
    queryFn: ({ signal }) => call<Job>('GET', `/queue/${migration?.job}`, { signal }),
    enabled: migration !== undefined && migration !== null,
    refetchInterval: 1_000,
    retry: false,
  })
  const working = migration !== undefined && migration !== null && !migration.stopped
  useEffect(() => {
    if (!working) return undefined
    const look = setInterval(() => void queryClient.invalidateQueries({ queryKey: ['fields'] }), 1_500)
    return () => clearInterval(look)
  }, [working])
  if (!migration) return null
  const { step, stopped } = migration
  const { done = 0, total = 0, refused = 0 } = data?.progress ?? {}
  const takeBack = () =>
    call('DELETE', `/blueprintfields/${_meta.guid}/migration`).then(
      () => queryClient.invalidateQueries({ queryKey: ['fields'] }),
      (failed) => notifyFailed(fieldsTexts.couldNotTakeBack, failed),
    )
  return (
    <div role="status">
      <Text size="xs" c={stopped ? 'red' : 'dimmed'}>
        {stopped ? fieldsTexts.migrationStopped(refused) : fieldsTexts.migrating[step](migration.field)}{' '}
        {step === 'clear' ? null : (
          <Anchor component="button" type="button" size="xs" onClick={() => void takeBack()}>
            {step === 'copy' ? fieldsTexts.takeBack : fieldsTexts.endConversion}
          </Anchor>
        )}
      </Text>
      <Progress
        value={total === 0 ? 0 : (done / total) * 100}
        size="sm"
        aria-label={fieldsTexts.migrationProgress}
      />
    </div>
  )
}

import { Code, Divider, Stack, Text, Textarea, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { StorageRecord } from '../../../../shared/api/data/storages.ts'
import { sameJson } from '../../../../shared/json.ts'
import { call } from '../../../api/request.ts'
import { fieldsQuery, forgetStorages } from '../../../api/storages.ts'
import { useFieldError } from '../../../controls/field-errors.tsx'
import { FormDialog } from '../../../controls/form-dialog.tsx'
import { useDraft } from '../../../controls/use-draft.ts'
import { dataTexts } from '../../../texts/data.ts'
import { ConstraintFields, constraintDrafts, UnknownFields } from './constraint-fields.tsx'

interface StorageRulesDialogProps {
  readonly opened: boolean
  readonly onClose: () => void
  readonly storage: StorageRecord
}

type Rules = Readonly<Record<'see' | 'create' | 'change' | 'remove', string>>

/** Constraints, which bind everyone, and permissions: who may do what with the documents. Checked by the server when they are saved. */
export function StorageRulesDialog({ opened, onClose, storage }: StorageRulesDialogProps) {
  const { see, create, change, remove } = storage.rules ?? {}
  const form = useDraft<Rules>({
    see: see ?? '',
    create: create ?? '',
    change: change ?? '',
    remove: remove ?? '',
  })
  const [constraints, setConstraints] = useState(() => constraintDrafts(storage))
  const submit = async () => {
    const given = Object.entries(form.draft).filter(([, text]) => text.trim() !== '')
    const rules = given.length === 0 ? null : Object.fromEntries(given)
    // Permissions need a scope of their own, constraints do not.
    const isSame = sameJson({ ...rules }, { ...storage.rules })
    const body = { constraints, ...(!isSame && { rules }) }
    await call('PUT', `/_system/storages/${storage._meta.guid}`, { body })
    await forgetStorages()
  }
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={dataTexts.rulesOf(storage.name)}
      action={dataTexts.save}
      submit={submit}
    >
      <ConstraintFields storage={storage.name} constraints={constraints} onChange={setConstraints} />
      <Divider />
      <Title order={3} size="h5">
        {dataTexts.permissions}
      </Title>
      <Text size="sm" c="dimmed">
        {dataTexts.rulesOver} <Code>doc</Code> {dataTexts.and} <Code>user</Code> (<Code>guid</Code>,{' '}
        <Code>username</Code>, <Code>groups</Code>, <Code>scopes</Code>
        {dataTexts.rulesEmpty} <Code>storages_rules</Code> {dataTexts.rulesBound}
      </Text>
      <Fields form={form} storage={storage.name} />
    </FormDialog>
  )
}

const fields = [
  ['see', dataTexts.see, dataTexts.seeHelp],
  ['create', dataTexts.create, dataTexts.createHelp],
  ['change', dataTexts.change, dataTexts.changeHelp],
  ['remove', dataTexts.remove, dataTexts.removeHelp],
] as const

interface FieldsProps {
  readonly form: ReturnType<typeof useDraft<Rules>>
  readonly storage: string
}

function Fields({ form: { draft, set }, storage }: FieldsProps) {
  const error = useFieldError()
  const { data: known = [] } = useQuery(fieldsQuery(storage))
  return fields.map(([name, label, description]) => (
    <Stack key={name} gap={4}>
      <Textarea
        label={label}
        description={description}
        autosize
        minRows={1}
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        value={draft[name]}
        error={error(`rules.${name}`)}
        onChange={(event) => set(name, event.currentTarget.value)}
      />
      <UnknownFields rule={draft[name]} fields={known.map((field) => field.name)} />
    </Stack>
  ))
}

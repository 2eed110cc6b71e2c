import { ActionIcon, Code, Divider, Menu, Stack, Text, Textarea, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link } from 'wouter'
import type { StorageRecord } from '../../../shared/api/data/storages.ts'
import { queryClient } from '../../api/query-client.ts'
import { call } from '../../api/request.ts'
import { saveChanges } from '../../api/save-changes.ts'
import { countQuery, forgetStorages } from '../../api/storages.ts'
import { confirm } from '../../controls/confirm.ts'
import { useFieldError } from '../../controls/field-errors.tsx'
import { FormDialog } from '../../controls/form-dialog.tsx'
import { useDraft } from '../../controls/hooks.ts'
import { Icon } from '../../controls/icon.tsx'
import { whoMayPath } from '../../controls/lists/list-address.ts'
import { dataTexts } from '../../texts/data.ts'
import { AccessDialog } from '../blueprints/access/access-dialog.tsx'
import {
  type ConstraintDraft,
  ConstraintFields,
  constraintDrafts,
  UnknownFields,
} from './rules/constraint-fields.tsx'
import { StorageDialog } from './storage-dialog.tsx'

interface StorageRulesDialogProps {
  readonly onClose: () => void
  readonly storage: StorageRecord
}

type Rules = Readonly<Record<'see' | 'create' | 'change' | 'remove', string>>
type RulesDraft = Rules & { readonly constraints: readonly ConstraintDraft[] }

function draftOf(storage: StorageRecord): RulesDraft {
  const { see, create, change, remove } = storage.rules ?? {}
  return {
    ...{ see: see ?? '', create: create ?? '', change: change ?? '', remove: remove ?? '' },
    constraints: constraintDrafts(storage),
  }
}

function fieldsOf({ constraints, ...rules }: RulesDraft) {
  const entries = Object.entries(rules).map(([name, text]) => [name, text.trim()] as const)
  return { constraints, rules: Object.fromEntries(entries) }
}

/** Permissions are replaced as a whole; without one there are none. */
function bodyOf({ rules, ...rest }: Readonly<Record<string, unknown>>) {
  if (typeof rules !== 'object' || rules === null) return rest
  const written = Object.entries(rules).filter(([, text]) => text !== '')
  return { ...rest, rules: written.length === 0 ? null : Object.fromEntries(written) }
}

/** Constraints, which bind everyone, and permissions: who may do what with the documents. Checked by the server when they are saved. */
export function StorageRulesDialog({ onClose, storage }: StorageRulesDialogProps) {
  const form = useDraft(draftOf(storage))
  const submit = async () => {
    // Permissions need a scope of their own, constraints do not: what did not change is not sent.
    const path = `/_system/storages/${storage._meta.guid}`
    await saveChanges<StorageRecord>(path, fieldsOf(form.draft), fieldsOf(form.shown), {
      shownOf: (stored) => fieldsOf(draftOf(stored)),
      bodyOf,
    })
    await forgetStorages()
  }
  return (
    <FormDialog
      opened
      onClose={onClose}
      title={dataTexts.rulesOf(storage.name)}
      action={dataTexts.save}
      submit={submit}
    >
      <ConstraintFields
        storage={storage.name}
        constraints={form.draft.constraints}
        onChange={(constraints) => form.set('constraints', constraints)}
      />
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
  readonly form: ReturnType<typeof useDraft<RulesDraft>>
  readonly storage: string
}

function Fields({ form: { draft, set }, storage }: FieldsProps) {
  const error = useFieldError()
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
      <UnknownFields rule={draft[name]} storage={storage} />
    </Stack>
  ))
}

export function StorageMenu({ storage }: { readonly storage: StorageRecord }) {
  const [isEditing, edit] = useDisclosure(false)
  const [isRuling, rule] = useDisclosure(false)
  const [isGranting, grant] = useDisclosure(false)
  return (
    <>
      <Menu position="bottom-end" width={200}>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={dataTexts.moreAbout(storage.name)}>
            <Icon name="more" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Icon name="edit" size={16} />} onClick={edit.open}>
            {dataTexts.descriptionAndHistory}
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="people" size={16} />} onClick={grant.open}>
            {dataTexts.whoMayUseIt}
          </Menu.Item>
          <Menu.Item
            component={Link}
            href={whoMayPath('storage', storage.name)}
            leftSection={<Icon name="people" size={16} />}
          >
            {dataTexts.whoMayDoWhat}
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="lock" size={16} />} onClick={rule.open}>
            {dataTexts.rules}
          </Menu.Item>
          <Menu.Item
            component={Link}
            href={`/data/storages/${storage._meta.guid}?open=advice`}
            leftSection={<Icon name="search" size={16} />}
          >
            {dataTexts.searchesAndIndexes}
          </Menu.Item>
          <Menu.Item
            color="red"
            leftSection={<Icon name="trash" size={16} />}
            onClick={() => void askToDelete(storage)}
          >
            {dataTexts.delete}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isEditing ? <StorageDialog opened onClose={edit.close} storage={storage} /> : null}
      <AccessDialog opened={isGranting} onClose={grant.close} storage={storage.name} />
      {/* What was typed and cancelled is gone with it. */}
      {isRuling ? <StorageRulesDialog onClose={rule.close} storage={storage} /> : null}
    </>
  )
}

async function askToDelete({ _meta, name }: StorageRecord): Promise<void> {
  const found = await queryClient.fetchQuery(countQuery(_meta.guid)).catch(() => undefined)
  const what = found ? dataTexts.documentCount(found.count.toLocaleString()) : dataTexts.allItsDocuments
  confirm({
    title: dataTexts.deleteTheStorage(name),
    text: dataTexts.deleteTheStorageText(what),
    action: dataTexts.deletePermanently,
    type: name,
    run: async () => {
      await call('DELETE', `/_system/storages/${_meta.guid}`)
      await forgetStorages()
    },
  })
}

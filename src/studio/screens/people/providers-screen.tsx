import {
  Autocomplete,
  Badge,
  Code,
  Modal,
  MultiSelect,
  Select,
  Switch,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { PROVIDER_PATH } from '../../../shared/account-paths.ts'
import type { ProviderRecord } from '../../../shared/api/people/sign-in-providers.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { providerPresets } from '../../../shared/provider-presets.ts'
import { groupsQuery } from '../../api/account.ts'
import { namedRecords, namesOf } from '../../api/named-records.ts'
import { secrets } from '../../api/operate.ts'
import { useDraft } from '../../controls/hooks.ts'
import type { Column } from '../../controls/lists/record-table.tsx'
import { EmptyState } from '../../controls/states.tsx'
import { providersTexts } from '../../texts/people.ts'
import { rightsTexts } from '../../texts/properties.ts'
import { NamedDialog, NamedForm } from '../operate/named/named-dialog.tsx'
import { type NamedDialogProps, NamedScreen } from '../operate/named/named-screen.tsx'
import { changedByProvider } from './known-scopes.ts'
import { ChangedRights } from './scope-input.tsx'

const providers = namedRecords<ProviderRecord>('/_system/signin-providers', 'signin-providers', 50)

const columns: readonly Column<ProviderRecord>[] = [
  {
    id: 'issuer',
    label: providersTexts.issuer,
    sort: 'issuer',
    render: ({ issuer }) => <Code style={{ overflowWrap: 'anywhere' }}>{issuer}</Code>,
  },
  {
    id: 'state',
    label: providersTexts.state,
    width: 150,
    render: ({ is_active, from_settings }) => (
      <>
        <Badge color={is_active ? 'green' : 'gray'}>
          {is_active ? providersTexts.active : providersTexts.inactive}
        </Badge>
        {from_settings ? <Text size="xs">{providersTexts.fromSettings}</Text> : null}
      </>
    ),
  },
]

/** Providers that users sign in with. */
export function ProvidersScreen() {
  return (
    <NamedScreen
      title={providersTexts.title}
      about={providersTexts.about}
      action={providersTexts.action}
      address="/people/providers"
      records={providers}
      columns={columns}
      empty={
        <EmptyState icon="people" title={providersTexts.none}>
          <Text size="sm">{providersTexts.noneText}</Text>
        </EmptyState>
      }
      removal={({ from_settings }) => (from_settings ? undefined : providersTexts.removal)}
      Dialog={ProviderDialog}
    />
  )
}

function ProviderDialog({ guid, onClose }: NamedDialogProps) {
  return (
    <NamedDialog
      guid={guid}
      onClose={onClose}
      records={providers}
      form={(record) =>
        record?.from_settings ? (
          <FromSettings record={record} onClose={onClose} />
        ) : (
          <Opened record={record} onClose={onClose} />
        )
      }
    />
  )
}

/** Only shown: the next start of a node would undo what is changed here. */
function FromSettings({ record, onClose }: OpenedProps & { readonly record: ProviderRecord }) {
  const { _meta, created_by, modified_by, name, from_settings, ...fields } = record
  return (
    <Modal opened onClose={onClose} title={name}>
      <Text size="sm">{providersTexts.changedInSettings}</Text>
      <Text size="sm" mt="md" style={{ overflowWrap: 'anywhere' }}>
        {providersTexts.redirect(`${location.origin}/${PROVIDER_PATH}/${name}/callback`)}
      </Text>
      <Code block mt="md" tabIndex={0} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {JSON.stringify(fields, null, 2)}
      </Code>
    </Modal>
  )
}

type Draft = ReturnType<typeof draftOf>

function draftOf(record: ProviderRecord | undefined) {
  const [first] = providerPresets
  const kind: ProviderRecord['kind'] = record?.kind ?? first.kind
  return {
    ...{
      name: record?.name ?? '',
      description: record?.description ?? '',
      title: record?.title ?? first.preset,
    },
    ...{ kind, issuer: record?.issuer ?? first.issuer, clientId: record?.client_id ?? '' },
    ...{ secret: record?.secret ?? '', scopes: record?.scopes ?? first.scopes },
    ...{ isActive: record?.is_active ?? true, createUsers: record?.create_users ?? false },
    domains: record?.domains.join(', ') ?? '',
    requiredDomains: record?.required_domains.join(', ') ?? '',
    ...{ groups: record?.groups ?? [], expression: record?.groups_expression ?? '' },
    externalIdClaim: record?.external_id_claim ?? '',
    ...{ trustsFactor: record?.trusts_factor ?? false, signOut: record?.sign_out ?? false },
  }
}

function fieldsOf(draft: Draft): JsonObject {
  return {
    ...{
      description: draft.description,
      title: draft.title.trim(),
      kind: draft.kind,
      issuer: draft.issuer.trim(),
    },
    ...{ client_id: draft.clientId.trim(), secret: draft.secret.trim(), scopes: draft.scopes.trim() },
    ...{ is_active: draft.isActive, create_users: draft.createUsers },
    ...{ domains: listOf(draft.domains), required_domains: listOf(draft.requiredDomains) },
    ...{ groups: [...draft.groups], groups_expression: draft.expression.trim() },
    external_id_claim: draft.externalIdClaim.trim(),
    ...{ trusts_factor: draft.trustsFactor, sign_out: draft.signOut },
  }
}

function listOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((one) => one !== '')
}

interface OpenedProps {
  readonly record: ProviderRecord | undefined
  readonly onClose: () => void
}

function Opened({ record, onClose }: OpenedProps) {
  const form = useDraft(draftOf(record))
  const { draft, set } = form
  const [preset, setPreset] = useState<string>(providerPresets[0].preset)
  const name = record?.name ?? draft.name
  const begin = (next: string | null) => {
    const found = providerPresets.find((one) => one.preset === next)
    if (!found) return
    setPreset(found.preset)
    set('title', found.preset)
    set('kind', found.kind)
    set('issuer', found.issuer)
    set('scopes', found.scopes)
    if (draft.name === '') set('name', found.preset.toLowerCase())
  }
  return (
    <NamedForm
      record={record}
      title={providersTexts.action}
      nameHelp={providersTexts.nameHelp}
      draft={draft}
      onDraft={set}
      submit={() => providers.save(record, form, { draftOf, fieldsOf })}
      onClose={onClose}
    >
      {record ? null : (
        <Select
          label={providersTexts.preset}
          data={providerPresets.map((one) => one.preset)}
          value={preset}
          onChange={begin}
        />
      )}
      {name === '' ? null : (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {providersTexts.redirect(`${location.origin}/${PROVIDER_PATH}/${name}/callback`)}
        </Text>
      )}
      <ProviderFields draft={draft} set={set} />
      <UserFields draft={draft} set={set} />
      <Changes record={record} draft={draft} />
    </NamedForm>
  )
}

interface FieldsProps {
  readonly draft: Draft
  readonly set: <Name extends keyof Draft>(name: Name, value: Draft[Name]) => void
}

/** Which provider it is, and as what Quoin is known there. */
function ProviderFields({ draft, set }: FieldsProps) {
  const { data = [] } = useQuery(secrets.all)
  return (
    <>
      <TextInput
        label={providersTexts.buttonTitle}
        description={providersTexts.buttonTitleHelp}
        required
        value={draft.title}
        onChange={(event) => set('title', event.currentTarget.value)}
      />
      <Select
        label={providersTexts.kind}
        allowDeselect={false}
        data={Object.entries(providersTexts.kinds).map(([value, label]) => ({ value, label }))}
        value={draft.kind}
        onChange={(kind) => set('kind', kind === 'github' ? 'github' : 'oidc')}
      />
      <TextInput
        label={providersTexts.issuer}
        description={providersTexts.issuerHelp}
        required
        value={draft.issuer}
        onChange={(event) => set('issuer', event.currentTarget.value)}
      />
      <TextInput
        label={providersTexts.clientId}
        required
        value={draft.clientId}
        onChange={(event) => set('clientId', event.currentTarget.value)}
      />
      <Autocomplete
        label={providersTexts.secret}
        description={providersTexts.secretHelp}
        data={[...namesOf(data)]}
        value={draft.secret}
        onChange={(name) => set('secret', name)}
      />
      <TextInput
        label={providersTexts.scopes}
        value={draft.scopes}
        onChange={(event) => set('scopes', event.currentTarget.value)}
      />
      <Switch
        label={providersTexts.active}
        checked={draft.isActive}
        onChange={(event) => set('isActive', event.currentTarget.checked)}
      />
    </>
  )
}

/** What those who sign in with it get from then on. */
function Changes({ record, draft }: Pick<OpenedProps, 'record'> & { readonly draft: Draft }) {
  const { data: groups = [] } = useQuery(groupsQuery)
  const { isActive, createUsers, expression } = draft
  const { who, ...rights } = changedByProvider(
    record,
    { is_active: isActive, create_users: createUsers, groups: draft.groups, groups_expression: expression },
    groups,
  )
  const note = who === 'named' && rights.added.length > 0 ? rightsTexts.leavesGroup : rightsTexts.staysInGroup
  return <ChangedRights who={rightsTexts.whoGets[who]} {...rights} note={note} />
}

/** Who may sign in with it, and what they may do. */
function UserFields({ draft, set }: FieldsProps) {
  const { data: groups = [] } = useQuery(groupsQuery)
  return (
    <>
      <Switch
        label={providersTexts.createUsers}
        checked={draft.createUsers}
        onChange={(event) => set('createUsers', event.currentTarget.checked)}
      />
      {draft.createUsers ? (
        <TextInput
          label={providersTexts.domains}
          description={providersTexts.domainsHelp}
          value={draft.domains}
          onChange={(event) => set('domains', event.currentTarget.value)}
        />
      ) : null}
      <TextInput
        label={providersTexts.requiredDomains}
        description={providersTexts.requiredDomainsHelp}
        value={draft.requiredDomains}
        onChange={(event) => set('requiredDomains', event.currentTarget.value)}
      />
      <MultiSelect
        label={providersTexts.groups}
        searchable
        data={groups.map(({ _meta, name }) => ({ value: _meta.guid, label: name }))}
        value={[...draft.groups]}
        onChange={(chosen) => set('groups', chosen)}
      />
      {draft.groups.length > 0 ? (
        <Textarea
          label={providersTexts.expression}
          description={providersTexts.expressionHelp}
          autosize
          value={draft.expression}
          onChange={(event) => set('expression', event.currentTarget.value)}
        />
      ) : null}
      <TextInput
        label={providersTexts.externalIdClaim}
        description={providersTexts.externalIdClaimHelp}
        maxLength={100}
        value={draft.externalIdClaim}
        onChange={(event) => set('externalIdClaim', event.currentTarget.value)}
      />
      <Switch
        label={providersTexts.trustsFactor}
        checked={draft.trustsFactor}
        onChange={(event) => set('trustsFactor', event.currentTarget.checked)}
      />
      <Switch
        label={providersTexts.signOut}
        checked={draft.signOut}
        onChange={(event) => set('signOut', event.currentTarget.checked)}
      />
    </>
  )
}

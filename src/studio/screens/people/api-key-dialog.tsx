import { Select, Textarea, TextInput } from '@mantine/core'
import type { ApiKey, ApiKeyInput, ShownApiKey } from '../../../shared/api/people/api-keys.ts'
import { createKey, type Owner, updateKey } from '../../api/credentials.ts'
import { FormDialog } from '../../controls/form-dialog.tsx'
import { useDraft } from '../../controls/hooks.ts'
import { peopleTexts } from '../../texts/people.ts'
import { rightsTexts } from '../../texts/properties.ts'
import { changedRights } from './known-scopes.ts'
import { ChangedRights, ScopeInput } from './scope-input.tsx'

const DAY = 86_400
/** Days as text; empty: never. */
const lifetimes = [
  { value: '30', label: peopleTexts.in30Days },
  { value: '90', label: peopleTexts.in90Days },
  { value: '365', label: peopleTexts.inAYear },
  { value: '', label: peopleTexts.never },
]

/** The expiry stays as it is. */
const KEEP = 'keep'

interface ApiKeyDialogProps {
  readonly owner: Owner
  /** The key that is changed; a new one if not given. */
  readonly record?: ApiKey
  readonly onClose: () => void
  /** With a new key, which is shown once. */
  readonly onDone: (made?: ShownApiKey) => void
}

export function ApiKeyDialog({ owner, record, onClose, onDone }: ApiKeyDialogProps) {
  const { draft, shown, set } = useDraft(draftOf(record))
  const expiries = record ? [{ value: KEEP, label: peopleTexts.asNow(expiryText(record.expiry)) }] : []
  const submit = async () => {
    if (!record) return onDone(await createKey(owner, requestedIn(draft)))
    // Only what differs: a scope that the owner has lost meanwhile, or an expiry that has passed, is refused when it is sent.
    await updateKey(owner, record, requestedIn(draft), requestedIn(shown))
    return onDone()
  }
  return (
    <FormDialog
      opened
      onClose={onClose}
      title={record ? peopleTexts.change(record.name) : peopleTexts.newApiKey}
      action={record ? peopleTexts.save : peopleTexts.create}
      submit={submit}
      size="lg"
    >
      <TextInput
        label={peopleTexts.name}
        description={peopleTexts.nameHelp}
        required
        data-autofocus
        value={draft.name}
        onChange={(event) => set('name', event.currentTarget.value)}
      />
      <ScopeInput
        label={peopleTexts.scopes}
        description={peopleTexts.scopesHelp}
        value={draft.scopes}
        error={undefined}
        onChange={(scopes) => set('scopes', scopes)}
      />
      <Textarea
        label={peopleTexts.allowedEndpoints}
        description={peopleTexts.allowedEndpointsHelp}
        autosize
        minRows={2}
        value={draft.endpoints}
        onChange={(event) => set('endpoints', event.currentTarget.value)}
      />
      <Select
        label={peopleTexts.expires}
        data={[...expiries, ...lifetimes]}
        allowDeselect={false}
        value={draft.days}
        onChange={(days) => set('days', days ?? '')}
      />
      <ChangedRights
        who={rightsTexts.keyWithinOwner}
        {...changedRights({ scopes: record?.scopes ?? [], groups: [] }, { ...draft, groups: [] }, [])}
      />
    </FormDialog>
  )
}

interface ApiKeyDraft {
  readonly name: string
  readonly scopes: readonly string[]
  /** One a line. */
  readonly endpoints: string
  readonly days: string
}

function draftOf(record: ApiKey | undefined): ApiKeyDraft {
  const { name = '', scopes = [], endpoints = [] } = record ?? {}
  return { name, scopes, endpoints: endpoints.join('\n'), days: record ? KEEP : '365' }
}

function requestedIn({ name, scopes, endpoints, days }: ApiKeyDraft): ApiKeyInput {
  return {
    name: name.trim(),
    scopes: [...scopes],
    endpoints: endpoints
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
    ...(days !== KEEP && { expiry: expiryIn(days) }),
  }
}

function expiryIn(days: string): number {
  return days === '' ? 0 : Math.floor(Date.now() / 1000) + Number(days) * DAY
}

function expiryText(expiry: number): string {
  return expiry === 0 ? 'never' : new Date(expiry * 1000).toLocaleString()
}

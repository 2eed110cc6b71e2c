import { Select, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { ShownApiKey } from '../../../shared/api/api-keys.ts'
import { createKey, type Owner } from '../../api/credentials.ts'
import { FormDialog } from '../../controls/form-dialog.tsx'
import { useDraft } from '../../controls/use-draft.ts'
import { ScopeInput } from './scope-input.tsx'

const DAY = 86_400
/** Days as text; empty: never. */
const lifetimes = [
  { value: '30', label: 'in 30 days' },
  { value: '90', label: 'in 90 days' },
  { value: '365', label: 'in a year' },
  { value: '', label: 'never' },
]

interface ApiKeyDialogProps {
  readonly owner: Owner
  readonly onClose: () => void
  readonly onMade: (key: ShownApiKey) => void
}

export function ApiKeyDialog({ owner, onClose, onMade }: ApiKeyDialogProps) {
  const { draft, set } = useDraft({ name: '', endpoints: '', days: '365' })
  const [scopes, setScopes] = useState<readonly string[]>([])
  const submit = async () => {
    const { name, endpoints, days } = draft
    const made = await createKey(owner, {
      name: name.trim(),
      scopes: [...scopes],
      endpoints: endpoints
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== ''),
      expiry: days === '' ? 0 : Math.floor(Date.now() / 1000) + Number(days) * DAY,
    })
    onMade(made)
  }
  return (
    <FormDialog opened onClose={onClose} title="New API key" action="Create" submit={submit} size="lg">
      <TextInput
        label="Name"
        description="Which program uses it."
        required
        data-autofocus
        value={draft.name}
        onChange={(event) => set('name', event.currentTarget.value)}
      />
      <ScopeInput
        label="Scopes"
        description="Of those that the owner holds; * stands for all of them."
        value={scopes}
        error={undefined}
        onChange={setScopes}
      />
      <Textarea
        label="Allowed endpoints"
        description="One in a line, such as GET /api/v1/orders or /api/v1/orders/*. Empty: every endpoint."
        autosize
        minRows={2}
        value={draft.endpoints}
        onChange={(event) => set('endpoints', event.currentTarget.value)}
      />
      <Select
        label="Expires"
        data={lifetimes}
        allowDeselect={false}
        value={draft.days}
        onChange={(days) => set('days', days ?? '')}
      />
    </FormDialog>
  )
}

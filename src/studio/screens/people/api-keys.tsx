import { ActionIcon, Button, Code, Group, Menu, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ApiKey, ShownApiKey } from '../../../shared/api/api-keys.ts'
import { apiKeysQuery, type Owner, removeKey, rotateKey } from '../../api/credentials.ts'
import { confirm } from '../../controls/confirm.ts'
import { ErrorNotice } from '../../controls/error-notice.tsx'
import { Icon } from '../../controls/icon.tsx'
import { CardTable } from '../../controls/lists/card-table.tsx'
import type { Column } from '../../controls/lists/column.ts'
import { Time } from '../../controls/time.tsx'
import { ApiKeyDialog } from './api-key-dialog.tsx'
import { ShownKeyDialog } from './shown-key-dialog.tsx'

const DAY = 86_400

/** The API keys of a user, without their secrets: one is shown once, when it is made. */
export function ApiKeys({ owner }: { readonly owner: Owner }) {
  const { data = [], error } = useQuery({ ...apiKeysQuery(owner), retry: false })
  const [adding, setAdding] = useState(false)
  const [shown, setShown] = useState<ShownApiKey>()
  const actions: Column<ApiKey> = {
    id: 'actions',
    label: '',
    width: 48,
    render: (key) => <KeyActions owner={owner} record={key} show={setShown} />,
  }
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Title order={2}>API keys</Title>
        <Button
          variant="default"
          leftSection={<Icon name="plus" size={16} />}
          onClick={() => setAdding(true)}
        >
          New API key
        </Button>
      </Group>
      {error ? <ErrorNotice error={error} title="Could not load the API keys" /> : null}
      {data.length === 0 ? (
        <Text size="sm" c="dimmed">
          No keys. A program that calls in needs one.
        </Text>
      ) : (
        <CardTable
          label="API keys"
          columns={[...columns, actions]}
          records={data}
          keyOf={({ _meta }) => _meta.guid}
          minWidth={560}
        />
      )}
      {adding ? (
        <ApiKeyDialog
          owner={owner}
          onClose={() => setAdding(false)}
          onDone={(key) => {
            setAdding(false)
            setShown(key)
          }}
        />
      ) : null}
      <ShownKeyDialog shown={shown} onClose={() => setShown(undefined)} />
    </Stack>
  )
}

const columns: readonly Column<ApiKey>[] = [
  {
    id: 'name',
    label: 'Name',
    render: ({ name, hint }) => (
      <div>
        {name}
        <Text size="xs" c="dimmed">
          <Code>{hint}</Code>
        </Text>
      </div>
    ),
  },
  {
    id: 'calls',
    label: 'May call',
    render: ({ endpoints, scopes }) => (
      <div>
        <Text size="sm">{endpoints.length === 0 ? 'every endpoint' : endpoints.join(', ')}</Text>
        <Text size="xs" c="dimmed">
          {scopes.length === 0 ? 'no scopes' : `scopes ${scopes.join(', ')}`}
        </Text>
      </div>
    ),
  },
  {
    id: 'used',
    label: 'Last used',
    width: 120,
    render: ({ last_used }) => <Time at={last_used} never="never" />,
  },
  {
    id: 'expiry',
    label: 'Expires',
    width: 150,
    render: ({ expiry }) => <Time at={expiry} exact never="never" />,
  },
]

interface KeyActionsProps {
  readonly owner: Owner
  readonly record: ApiKey
  readonly show: (key: ShownApiKey) => void
}

function KeyActions({ owner, record, show }: KeyActionsProps) {
  const [changing, setChanging] = useState(false)
  const close = () => setChanging(false)
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${record.name}`}>
            <Icon name="more" size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setChanging(true)}>Change</Menu.Item>
          <Menu.Item onClick={() => askToRotate(owner, record, show)}>Rotate</Menu.Item>
          <Menu.Item color="red" onClick={() => askToRemove(owner, record)}>
            Remove
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {changing ? <ApiKeyDialog owner={owner} record={record} onClose={close} onDone={close} /> : null}
    </>
  )
}

function askToRotate(owner: Owner, { _meta, name }: ApiKey, show: KeyActionsProps['show']): void {
  confirm({
    title: `Rotate ${name}?`,
    text: 'You get a new key. The present one stays valid for one day, so that programs can change over.',
    action: 'Rotate',
    run: async () => show(await rotateKey(owner, _meta.guid, DAY)),
  })
}

function askToRemove(owner: Owner, { _meta, name }: ApiKey): void {
  confirm({
    title: `Remove ${name}?`,
    text: 'Programs with this key are refused at once. This cannot be undone.',
    action: 'Remove',
    run: () => removeKey(owner, _meta.guid),
  })
}

import {
  ActionIcon,
  Button,
  Code,
  Group,
  Menu,
  Stack,
  Table,
  Text,
  Title,
  VisuallyHidden,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ApiKey, ShownApiKey } from '../../../shared/api/api-keys.ts'
import { apiKeysQuery, type Owner, removeKey, rotateKey } from '../../api/credentials.ts'
import { confirm } from '../../controls/confirm.ts'
import { ErrorNotice } from '../../controls/error-notice.tsx'
import { Icon } from '../../controls/icon.tsx'
import { Time } from '../../controls/time.tsx'
import { ApiKeyDialog } from './api-key-dialog.tsx'
import { ShownKeyDialog } from './shown-key-dialog.tsx'

const DAY = 86_400

/** The API keys of a user, without their secrets: one is shown once, when it is made. */
export function ApiKeys({ owner }: { readonly owner: Owner }) {
  const { data = [], error } = useQuery({ ...apiKeysQuery(owner), retry: false })
  const [adding, setAdding] = useState(false)
  const [shown, setShown] = useState<ShownApiKey>()
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
        <Table.ScrollContainer minWidth={560} className="surface">
          <Table aria-label="API keys">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Name</Table.Th>
                <Table.Th>May call</Table.Th>
                <Table.Th w={120}>Last used</Table.Th>
                <Table.Th w={150}>Expires</Table.Th>
                <Table.Th w={48}>
                  <VisuallyHidden>Actions</VisuallyHidden>
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {data.map((key) => (
                <KeyRow key={key._meta.guid} owner={owner} record={key} show={setShown} />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {adding ? (
        <ApiKeyDialog
          owner={owner}
          onClose={() => setAdding(false)}
          onMade={(key) => {
            setAdding(false)
            setShown(key)
          }}
        />
      ) : null}
      <ShownKeyDialog shown={shown} onClose={() => setShown(undefined)} />
    </Stack>
  )
}

interface KeyRowProps {
  readonly owner: Owner
  readonly record: ApiKey
  readonly show: (key: ShownApiKey) => void
}

function KeyRow({ owner, record, show }: KeyRowProps) {
  const { name, hint, scopes, endpoints, expiry, last_used } = record
  return (
    <Table.Tr>
      <Table.Td>
        {name}
        <Text size="xs" c="dimmed">
          <Code>{hint}</Code>
        </Text>
      </Table.Td>
      <Table.Td>
        <Text size="sm">{endpoints.length === 0 ? 'every endpoint' : endpoints.join(', ')}</Text>
        <Text size="xs" c="dimmed">
          {scopes.length === 0 ? 'no scopes' : `scopes ${scopes.join(', ')}`}
        </Text>
      </Table.Td>
      <Table.Td>
        <Time at={last_used} never="never" />
      </Table.Td>
      <Table.Td>
        <Time at={expiry} exact never="never" />
      </Table.Td>
      <Table.Td>
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${name}`}>
              <Icon name="more" size={16} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => askToRotate(owner, record, show)}>Rotate</Menu.Item>
            <Menu.Item color="red" onClick={() => askToRemove(owner, record)}>
              Remove
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </Table.Td>
    </Table.Tr>
  )
}

function askToRotate(owner: Owner, { _meta, name }: ApiKey, show: KeyRowProps['show']): void {
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

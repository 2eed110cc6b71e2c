import {
  ActionIcon,
  Alert,
  Button,
  Code,
  CopyButton,
  Group,
  Menu,
  Modal,
  Stack,
  Text,
  Title,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ApiKey, ShownApiKey } from '../../../shared/api/people/api-keys.ts'
import { apiKeysQuery, type Owner, removeKey, rotateKey } from '../../api/credentials.ts'
import { CopyAction } from '../../controls/actions.tsx'
import { confirm } from '../../controls/confirm.ts'
import { Icon } from '../../controls/icon.tsx'
import { CardTable } from '../../controls/lists/card-table.tsx'
import type { Column } from '../../controls/lists/record-table.tsx'
import { scopeLabels } from '../../controls/scope-labels.ts'
import { ErrorNotice } from '../../controls/states.tsx'
import { Time } from '../../controls/time.tsx'
import { peopleTexts } from '../../texts/people.ts'
import { ApiKeyDialog } from './api-key-dialog.tsx'

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
        <Title order={2}>{peopleTexts.apiKeys}</Title>
        <Button
          variant="default"
          leftSection={<Icon name="plus" size={16} />}
          onClick={() => setAdding(true)}
        >
          {peopleTexts.newApiKey}
        </Button>
      </Group>
      {error ? <ErrorNotice error={error} title={peopleTexts.couldNotLoadApi} /> : null}
      {data.length === 0 ? (
        <Text size="sm" c="dimmed">
          {peopleTexts.noKeys}
        </Text>
      ) : (
        <CardTable
          label={peopleTexts.apiKeys}
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
    label: peopleTexts.name,
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
    label: peopleTexts.mayCall,
    render: ({ endpoints, scopes }) => (
      <div>
        <Text size="sm">{endpoints.length === 0 ? peopleTexts.everyEndpoint : endpoints.join(', ')}</Text>
        <Text size="xs" c="dimmed">
          {peopleTexts.scopesText(scopes.length, scopes.map(scopeLabels).join(', '))}
        </Text>
      </div>
    ),
  },
  {
    id: 'used',
    label: peopleTexts.lastUsed,
    width: 120,
    render: ({ last_used }) => <Time at={last_used} never={peopleTexts.never} />,
  },
  {
    id: 'expiry',
    label: peopleTexts.expires,
    width: 150,
    render: ({ expiry }) => <Time at={expiry} exact never={peopleTexts.never} />,
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
          <ActionIcon variant="subtle" color="gray" aria-label={peopleTexts.actionsFor(record.name)}>
            <Icon name="more" size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setChanging(true)}>{peopleTexts.changeText}</Menu.Item>
          <Menu.Item onClick={() => askToRotate(owner, record, show)}>{peopleTexts.rotate}</Menu.Item>
          <Menu.Item color="red" onClick={() => askToRemove(owner, record)}>
            {peopleTexts.remove}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {changing ? <ApiKeyDialog owner={owner} record={record} onClose={close} onDone={close} /> : null}
    </>
  )
}

function askToRotate(owner: Owner, { _meta, name }: ApiKey, show: KeyActionsProps['show']): void {
  confirm({
    title: peopleTexts.rotateTitle(name),
    text: peopleTexts.rotateText,
    action: peopleTexts.rotate,
    run: async () => show(await rotateKey(owner, _meta.guid, DAY)),
  })
}

function askToRemove(owner: Owner, { _meta, name }: ApiKey): void {
  confirm({
    title: peopleTexts.removeTitle(name),
    text: peopleTexts.removeText,
    action: peopleTexts.remove,
    run: () => removeKey(owner, _meta.guid),
  })
}

interface ShownKeyDialogProps {
  readonly shown: ShownApiKey | undefined
  readonly onClose: () => void
}

/** The secret of a key, once. It closes with its button only: a click beside it must not lose the key. */
function ShownKeyDialog({ shown, onClose }: ShownKeyDialogProps) {
  return (
    <Modal
      opened={shown !== undefined}
      onClose={onClose}
      title={peopleTexts.apiKey(shown?.name ?? '')}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack gap="md">
        <Alert color="sand" title={peopleTexts.shownOnce}>
          {peopleTexts.copyKeyNow}
        </Alert>
        <Group gap="xs" wrap="nowrap">
          <Code
            block
            flex={1}
            aria-label={peopleTexts.theKey}
            style={{ overflowWrap: 'anywhere', whiteSpace: 'normal' }}
          >
            {shown?.key}
          </Code>
          <CopyButton value={shown?.key ?? ''}>{(copying) => <CopyAction {...copying} />}</CopyButton>
        </Group>
        <Group justify="flex-end">
          <Button onClick={onClose}>{peopleTexts.iHaveCopiedIt}</Button>
        </Group>
      </Stack>
    </Modal>
  )
}

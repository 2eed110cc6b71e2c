import { ActionIcon, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { AgentGrant } from '../../../shared/api/people/agents.ts'
import { agentsQuery, endAgent } from '../../api/credentials.ts'
import { confirm } from '../../controls/confirm.ts'
import { Icon } from '../../controls/icon.tsx'
import { CardTable } from '../../controls/lists/card-table.tsx'
import type { Column } from '../../controls/lists/record-table.tsx'
import { ErrorNotice } from '../../controls/states.tsx'
import { Time } from '../../controls/time.tsx'
import { peopleTexts } from '../../texts/people.ts'

/** Agents that the user has let in by OAuth. */
export function Agents() {
  const { data = [], error } = useQuery({ ...agentsQuery, retry: false })
  return (
    <Stack gap="sm">
      <Title order={2}>{peopleTexts.agents}</Title>
      {error ? <ErrorNotice error={error} title={peopleTexts.couldNotLoadAgents} /> : null}
      {data.length === 0 ? (
        <Text size="sm" c="dimmed">
          {peopleTexts.noAgents}
        </Text>
      ) : (
        <CardTable
          label={peopleTexts.agents}
          columns={columns}
          records={data}
          keyOf={({ guid }) => guid}
          minWidth={480}
        />
      )}
    </Stack>
  )
}

const columns: readonly Column<AgentGrant>[] = [
  {
    id: 'client',
    label: peopleTexts.agentColumn,
    render: ({ client, client_id: address }) => (
      <Stack gap={0}>
        {client}
        <Text size="xs" c="dimmed">
          {address}
        </Text>
      </Stack>
    ),
  },
  { id: 'scopes', label: peopleTexts.scopes, render: ({ scopes }) => scopes.join(', ') },
  { id: 'used', label: peopleTexts.lastUsed, width: 120, render: ({ last_used: at }) => <Time at={at} /> },
  { id: 'until', label: peopleTexts.until, width: 120, render: ({ expiry }) => <Time at={expiry} /> },
  { id: 'end', label: '', width: 48, render: (agent) => <EndAgent {...agent} /> },
]

function EndAgent({ guid, client }: AgentGrant) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={peopleTexts.endTheAgent(client)}
      title={peopleTexts.end}
      onClick={() =>
        confirm({
          title: peopleTexts.endAgent(client),
          text: peopleTexts.endAgentText,
          action: peopleTexts.end,
          run: () => endAgent(guid),
        })
      }
    >
      <Icon name="close" size={16} />
    </ActionIcon>
  )
}

import { Anchor, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { Blueprint } from '../../../shared/api/blueprints.ts'
import { search } from '../../api/request.ts'
import { ErrorNotice } from '../../controls/error-notice.tsx'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { CallTasks } from './call-tasks.tsx'
import { StarterCards } from './starter-cards.tsx'
import { Step } from './step.tsx'

/** The three steps of the first minutes, and what to start from. */
export function WelcomeScreen() {
  const { data, error } = useQuery({
    queryKey: ['blueprints', 'tasks example'],
    queryFn: async ({ signal }) =>
      (await search<Blueprint>('/blueprints/search', { filters: { name: 'Tasks' }, limit: 1 }, signal))
        .records,
  })
  const [tasks] = data ?? []
  return (
    <>
      <ScreenHead title="Welcome to Quoin" about="Three steps to a live endpoint. Then build your own." />
      {error ? <ErrorNotice error={error} title="Could not load the blueprints" /> : null}
      <Stack component="ol" gap="md" p={0} m={0} maw={820}>
        <Step number={1} title="Sign in" done>
          <Text size="sm" c="dimmed">
            Done. Change the generated password in{' '}
            <Anchor component={Link} href="/account" inherit underline="always">
              your account
            </Anchor>
            .
          </Text>
        </Step>
        <Step number={2} title="Open the tasks example">
          <Text size="sm" c="dimmed" mb="sm">
            A small API of five endpoints: list, create, read, update, remove. Look at how its blocks are
            wired.
          </Text>
          {tasks ? (
            <Button component={Link} href={`/blueprints/${tasks._meta.guid}`}>
              Open Tasks
            </Button>
          ) : (
            <Text size="sm">{data ? 'The example is not installed. Start from a template below.' : ' '}</Text>
          )}
        </Step>
        <Step number={3} title="Call it">
          <CallTasks isThere={tasks?.active === true} />
        </Step>
      </Stack>
      <Title order={2} mt="xl" mb="xs">
        Start your own from a template
      </Title>
      <StarterCards />
      <Group mt="md">
        <Button component={Link} href="/blueprints" variant="default">
          Or start from scratch
        </Button>
      </Group>
    </>
  )
}

import { Anchor, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { Blueprint } from '../../../shared/api/blueprints/blueprints.ts'
import { search } from '../../api/request.ts'
import { ErrorNotice } from '../../controls/error-notice.tsx'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { signInTexts } from '../../texts/sign-in.ts'
import { startTexts } from '../../texts/start.ts'
import { CallTasks } from './call-tasks.tsx'
import { StarterCards } from './starter-cards.tsx'
import { Step } from './step.tsx'

/** The three steps of the first minutes, and what to start from. */
export function WelcomeScreen() {
  const { data, error } = useQuery({
    queryKey: ['blueprints', startTexts.tasksExample],
    queryFn: async ({ signal }) =>
      (
        await search<Blueprint>(
          '/blueprints/search',
          { filters: { name: startTexts.tasks }, limit: 1 },
          signal,
        )
      ).records,
  })
  const [tasks] = data ?? []
  return (
    <>
      <ScreenHead title={startTexts.welcomeToQuoin} about={startTexts.welcomeAbout} />
      {error ? <ErrorNotice error={error} title={startTexts.couldNotLoadBlueprints} /> : null}
      <Stack component="ol" gap="md" p={0} m={0} maw={820}>
        <Step number={1} title={signInTexts.signIn} done>
          <Text size="sm" c="dimmed">
            {startTexts.passwordDone}{' '}
            <Anchor component={Link} href="/account" inherit underline="always">
              {startTexts.yourAccount}
            </Anchor>
            .
          </Text>
        </Step>
        <Step number={2} title={startTexts.openTheTasksExample}>
          <Text size="sm" c="dimmed" mb="sm">
            {startTexts.tasksText}
          </Text>
          {tasks ? (
            <Button component={Link} href={`/blueprints/${tasks._meta.guid}`}>
              {startTexts.openTasks}
            </Button>
          ) : (
            <Text size="sm">{data ? startTexts.tasksMissing : ' '}</Text>
          )}
        </Step>
        <Step number={3} title={startTexts.callIt}>
          <CallTasks isThere={tasks?.active === true} />
        </Step>
      </Stack>
      <Title order={2} mt="xl" mb="xs">
        {startTexts.startFromTemplate}
      </Title>
      <StarterCards />
      <Group mt="md">
        <Button component={Link} href="/blueprints?new" variant="default">
          {startTexts.orStartFromScratch}
        </Button>
      </Group>
    </>
  )
}

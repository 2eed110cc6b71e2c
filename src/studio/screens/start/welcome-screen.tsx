import {
  Anchor,
  Button,
  Code,
  CopyButton,
  Group,
  Progress,
  SimpleGrid,
  Stack,
  Text,
  Title,
} from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link, useLocation } from 'wouter'
import type { Blueprint } from '../../../shared/api/blueprints/blueprints.ts'
import { search } from '../../api/request.ts'
import { CopyAction } from '../../controls/actions.tsx'
import { Icon } from '../../controls/icon.tsx'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { ErrorNotice } from '../../controls/states.tsx'
import { startFrom } from '../../starters/start-from.ts'
import { type Starter, starters } from '../../starters/starters.ts'
import { signInTexts } from '../../texts/sign-in.ts'
import { startTexts } from '../../texts/start.ts'
import { TryReplyView } from '../api/try-operation.tsx'
import { sendTry } from '../api/try-request.ts'
import classes from './step.module.css'

const path = '/api/v1/tasks'

/** Asks the example for real, and shows the line that does the same in a terminal. */
function CallTasks({ isThere }: { readonly isThere: boolean }) {
  const ask = useMutation({
    mutationFn: () => sendTry({ method: 'GET', path, values: {}, body: undefined, asMyself: false }),
  })
  const line = `curl ${location.origin}${path}`
  return (
    <>
      <Text size="sm" c="dimmed" mb="sm">
        {startTexts.callTasks}
      </Text>
      <Group gap="xs" mb="sm">
        <Button
          leftSection={<Icon name="play" size={14} />}
          loading={ask.isPending}
          disabled={!isThere}
          onClick={() => ask.mutate()}
        >
          {startTexts.get(path)}
        </Button>
        <Code>{line}</Code>
        <CopyButton value={line}>{(state) => <CopyAction {...state} />}</CopyButton>
      </Group>
      {ask.error ? <ErrorNotice error={ask.error} title={startTexts.noReply} /> : null}
      {ask.data ? (
        <>
          <TryReplyView reply={ask.data} />
          <Text size="sm" mt="sm">
            {startTexts.createOneAt}{' '}
            <Anchor
              component={Link}
              href={`/api?open=${encodeURIComponent(`POST ${path}`)}`}
              inherit
              underline="always"
            >
              {startTexts.post(path)}
            </Anchor>
            {startTexts.andFindItIn}{' '}
            <Anchor component={Link} href="/data" inherit underline="always">
              {startTexts.theData}
            </Anchor>
            .
          </Text>
        </>
      ) : null}
    </>
  )
}

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

/** Templates: each makes a blueprint that is saved and not active, and opens it. */
function StarterCards() {
  const [, go] = useLocation()
  const [running, setRunning] = useState<{ readonly id: string; readonly share: number }>()
  const start = async (starter: Starter) => {
    setRunning({ id: starter.id, share: 0 })
    const guid = await startFrom(starter, (share) => setRunning({ id: starter.id, share }))
    if (guid === undefined) setRunning(undefined)
    else go(`/blueprints/${guid}`)
  }
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} spacing="sm">
      {starters.map((starter) => (
        <Stack key={starter.id} className="surface" p="md" gap="xs" justify="space-between">
          <div>
            <Title order={3} size="h5">
              {starter.title}
            </Title>
            <Text size="sm" c="dimmed">
              {starter.summary}
            </Text>
          </div>
          {running?.id === starter.id ? (
            <Progress value={running.share * 100} my={12} aria-label={startTexts.creating(starter.title)} />
          ) : (
            <Button
              variant="default"
              size="xs"
              disabled={running !== undefined}
              aria-label={startTexts.startFromThis(starter.title)}
              onClick={() => void start(starter)}
            >
              {startTexts.startFromThisText}
            </Button>
          )}
        </Stack>
      ))}
    </SimpleGrid>
  )
}

interface StepProps {
  readonly number: number
  readonly title: string
  readonly done?: boolean
  readonly children: ReactNode
}

function Step({ number, title, done = false, children }: StepProps) {
  return (
    <li className={`surface ${classes.step}`}>
      <span className={classes.number} data-done={done || undefined}>
        {done ? <Icon name="check" size={16} /> : number}
      </span>
      <div className={classes.content}>
        <Title order={2} size="h4" mb={4}>
          {title}
        </Title>
        {children}
      </div>
    </li>
  )
}

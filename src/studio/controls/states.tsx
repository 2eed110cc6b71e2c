import { Alert, Anchor, Button, Code, Group, List, Skeleton, Stack, Text } from '@mantine/core'
import { Fragment, type ReactNode } from 'react'
import { Link } from 'wouter'
import { ApiError, messageOf } from '../api/api-error.ts'
import { controlsTexts } from '../texts/shell.ts'
import { Icon, type IconName } from './icon.tsx'
import { ScreenHead } from './screen-head.tsx'

interface EmptyStateProps {
  readonly icon: IconName
  readonly title: string
  /** What it would be for, and how to begin. */
  readonly children?: ReactNode
}

export function EmptyState({ icon, title, children }: EmptyStateProps) {
  return (
    <Stack align="center" gap={6} ta="center" py="md">
      <Icon name={icon} size={30} />
      <Text fw={600} c="var(--mantine-color-text)">
        {title}
      </Text>
      <Stack align="center" gap="sm" maw={460} fz="sm" c="dimmed" style={{ textWrap: 'balance' }}>
        {children}
      </Stack>
    </Stack>
  )
}

/** Takes about the room that a screen takes, so that nothing jumps when it comes. */
export function LoadingScreen() {
  return (
    <Stack role="status" aria-label={controlsTexts.loading} gap="md">
      <Skeleton height={30} width={220} />
      <Skeleton height={36} />
      <Skeleton height={320} />
    </Stack>
  )
}

/** What the server says, with a link to each setting that it names. */
export function Message({ text }: { readonly text: string }) {
  return text.split(/(\bQUOIN_[A-Z0-9_]+)/).map((part, at) =>
    at % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no names.
      <Fragment key={at}>
        <Anchor component={Link} href={`/operate/settings?q=${part}`} inherit underline="always">
          {part}
        </Anchor>
      </Fragment>
    ),
  )
}

interface ErrorNoticeProps {
  readonly error: unknown
  /** What could not be done: "The users could not be read". */
  readonly title?: string
  readonly onRetry?: (() => unknown) | undefined
}

interface FailedScreenProps extends ErrorNoticeProps {
  readonly title: string
  /** The list that leads out of it. */
  readonly parent: { readonly href: string; readonly label: string }
}

/** In place of a record that could not be read: it may be gone, and then trying again does not help. */
export function FailedScreen({ title, parent, error, onRetry }: FailedScreenProps) {
  const isGone = error instanceof ApiError && error.status === 404
  return (
    <>
      <ScreenHead title={title} parent={parent} />
      <ErrorNotice error={error} onRetry={isGone ? undefined : onRetry} />
    </>
  )
}

/** Says what the server said: the message, every problem that it does not name, the code, and the id that finds it in the log. */
export function ErrorNotice({ error, title, onRetry }: ErrorNoticeProps) {
  if (error === null || error === undefined) return null
  const api = error instanceof ApiError ? error : undefined
  const problems = api?.problems.filter((problem) => !api.message.includes(problem.message)) ?? []
  return (
    <Alert color="red" variant="light" title={title ?? controlsTexts.requestFailed} role="alert">
      <Stack gap="xs">
        <Text size="sm">
          <Message text={messageOf(error)} />
        </Text>
        {problems.length > 0 ? (
          <List size="sm" spacing={4}>
            {problems.map((problem) => (
              <List.Item key={`${problem.block} ${problem.pin} ${problem.message}`}>
                {problem.message}
                {problem.pin === undefined ? null : <Code ml={6}>{problem.pin}</Code>}
              </List.Item>
            ))}
          </List>
        ) : null}
        <Group justify="space-between" gap="xs">
          <Text size="xs" c="dimmed" ff="monospace">
            {api === undefined ? '' : [api.code, api.request].filter((word) => word !== '').join(' · ')}
          </Text>
          {onRetry === undefined ? null : (
            <Button size="compact-sm" variant="default" onClick={() => onRetry()}>
              {controlsTexts.tryAgain}
            </Button>
          )}
        </Group>
      </Stack>
    </Alert>
  )
}

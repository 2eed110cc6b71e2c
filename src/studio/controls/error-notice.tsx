import { Alert, Button, Code, Group, List, Stack, Text } from '@mantine/core'
import { ApiError, messageOf } from '../api/api-error.ts'
import { controlsTexts } from '../texts/controls.ts'

interface ErrorNoticeProps {
  readonly error: unknown
  /** What could not be done: "The users could not be read". */
  readonly title?: string
  readonly onRetry?: (() => unknown) | undefined
}

/** Says what the server said: the message, every problem that it does not name, the code, and the id that finds it in the log. */
export function ErrorNotice({ error, title, onRetry }: ErrorNoticeProps) {
  if (error === null || error === undefined) return null
  const api = error instanceof ApiError ? error : undefined
  const problems = api?.problems.filter((problem) => !api.message.includes(problem.message)) ?? []
  return (
    <Alert color="red" variant="light" title={title ?? controlsTexts.requestFailed} role="alert">
      <Stack gap="xs">
        <Text size="sm">{messageOf(error)}</Text>
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

import { Anchor, Button, Code, CopyButton, Group, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link } from 'wouter'
import { CopyAction } from '../../controls/copy-action.tsx'
import { ErrorNotice } from '../../controls/error-notice.tsx'
import { Icon } from '../../controls/icon.tsx'
import { TryReplyView } from '../api/try-reply-view.tsx'
import { sendTry } from '../api/try-request.ts'

const path = '/api/v1/tasks'

/** Asks the example for real, and shows the line that does the same in a terminal. */
export function CallTasks({ isThere }: { readonly isThere: boolean }) {
  const ask = useMutation({
    mutationFn: () => sendTry({ method: 'GET', path, values: {}, body: undefined, asMyself: false }),
  })
  const line = `curl ${location.origin}${path}`
  return (
    <>
      <Text size="sm" c="dimmed" mb="sm">
        Its list is public. Call it here, or in a terminal:
      </Text>
      <Group gap="xs" mb="sm">
        <Button
          leftSection={<Icon name="play" size={14} />}
          loading={ask.isPending}
          disabled={!isThere}
          onClick={() => ask.mutate()}
        >
          GET {path}
        </Button>
        <Code>{line}</Code>
        <CopyButton value={line}>{(state) => <CopyAction {...state} />}</CopyButton>
      </Group>
      {ask.error ? <ErrorNotice error={ask.error} title="No reply" /> : null}
      {ask.data ? (
        <>
          <TryReplyView reply={ask.data} />
          <Text size="sm" mt="sm">
            Create one at{' '}
            <Anchor
              component={Link}
              href={`/api?open=${encodeURIComponent(`POST ${path}`)}`}
              inherit
              underline="always"
            >
              POST {path}
            </Anchor>
            , and find it in{' '}
            <Anchor component={Link} href="/data" inherit underline="always">
              the data
            </Anchor>
            .
          </Text>
        </>
      ) : null}
    </>
  )
}

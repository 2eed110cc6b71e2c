import { Anchor, Button, Code, CopyButton, Group, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link } from 'wouter'
import { CopyAction } from '../../controls/copy-action.tsx'
import { ErrorNotice } from '../../controls/error-notice.tsx'
import { Icon } from '../../controls/icon.tsx'
import { startTexts } from '../../texts/start.ts'
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

import { Badge, Group, Stack, Text } from '@mantine/core'
import { duration } from '../../controls/amounts.ts'
import { JsonView } from '../../controls/json/json-view.tsx'
import { ScrollText } from '../../controls/scroll-text.tsx'
import type { TryReply } from './try-request.ts'

export function TryReplyView({
  reply: { status, milliseconds, headers, body },
}: {
  readonly reply: TryReply
}) {
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Badge size="lg" color={status < 300 ? 'green' : status < 400 ? 'gray' : 'red'}>
          {status}
        </Badge>
        <Text size="sm" c="dimmed" className="numbers">
          {duration(milliseconds)} in this browser
        </Text>
      </Group>
      {typeof body === 'string' ? (
        body === '' ? (
          <Text size="sm" c="dimmed">
            No body.
          </Text>
        ) : (
          <ScrollText label="Reply">{body}</ScrollText>
        )
      ) : (
        <JsonView value={body} label="Reply" />
      )}
      <details>
        <summary>
          <Text span size="sm">
            {headers.length} headers
          </Text>
        </summary>
        <ScrollText label="Headers of the reply">
          {headers.map(([name, value]) => `${name}: ${value}`).join('\n')}
        </ScrollText>
      </details>
    </Stack>
  )
}

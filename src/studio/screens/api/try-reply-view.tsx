import { Badge, Group, Stack, Text } from '@mantine/core'
import { duration } from '../../controls/amounts.ts'
import { JsonView } from '../../controls/json/json-view.tsx'
import { ScrollText } from '../../controls/tags.tsx'
import { referenceTexts } from '../../texts/reference.ts'
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
          {referenceTexts.inThisBrowser(duration(milliseconds))}
        </Text>
      </Group>
      {typeof body === 'string' ? (
        body === '' ? (
          <Text size="sm" c="dimmed">
            {referenceTexts.noBody}
          </Text>
        ) : (
          <ScrollText label={referenceTexts.reply}>{body}</ScrollText>
        )
      ) : (
        <JsonView value={body} label={referenceTexts.reply} />
      )}
      <details>
        <summary>
          <Text span size="sm">
            {referenceTexts.headers(headers.length)}
          </Text>
        </summary>
        <ScrollText label={referenceTexts.headersOfTheReply}>
          {headers.map(([name, value]) => `${name}: ${value}`).join('\n')}
        </ScrollText>
      </details>
    </Stack>
  )
}

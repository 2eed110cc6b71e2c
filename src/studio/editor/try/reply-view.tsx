import { Alert, Badge, Code, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { JsonView } from '../../controls/json-view.tsx'
import { explain } from '../api/editor-api.ts'
import type { Reply } from './send-request.ts'

interface ReplyViewProps {
  readonly reply: Reply
  readonly method: string
  readonly path: string
}

/** The reply; and where it is 404, why. */
export function ReplyView({ reply, method, path }: ReplyViewProps) {
  const { status, milliseconds, bytes, headers, text, json } = reply
  return (
    <Stack gap="xs" aria-live="polite">
      <Group gap={8}>
        <Badge color={status < 300 ? 'petrol' : status < 500 ? 'sand' : 'red'} variant="filled">
          {status}
        </Badge>
        <Text size="xs" c="dimmed" className="numbers">
          {milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms,{' '}
          {bytes.toLocaleString('en')} bytes
        </Text>
      </Group>
      {status === 404 ? <Why reply={reply} method={method} path={path} /> : null}
      {text === '' ? (
        <Text size="xs" c="dimmed">
          No body.
        </Text>
      ) : json === undefined ? (
        <Code block>{text.slice(0, 20_000)}</Code>
      ) : (
        <JsonView value={json} label="Body of the reply" />
      )}
      <details>
        <summary style={{ fontSize: 12, cursor: 'pointer' }}>Headers</summary>
        <Code block fz={11}>
          {headers.map(([name, value]) => `${name}: ${value}`).join('\n')}
        </Code>
      </details>
    </Stack>
  )
}

function Why({ reply, method, path }: ReplyViewProps) {
  const asked = path.split('?')[0] ?? path
  const { data } = useQuery({
    queryKey: ['explain', method, asked, reply],
    queryFn: () => explain(method, asked),
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (!data) return null
  return (
    <Alert color="sand" variant="light" p="xs">
      <Text size="xs">
        {data.reachable ? 'The endpoint is reachable: the flow itself answered 404.' : data.reason}
      </Text>
    </Alert>
  )
}

import { Alert, Badge, Button, Code, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { JsonView } from '../../controls/json/json-view.tsx'
import { tryTexts } from '../../texts/bar.ts'
import { explain } from '../api/editor-api.ts'
import { ElsewhereNote } from '../runs/pin-reply.tsx'
import { useShownRun } from '../runs/run-queries.ts'
import { useEditor } from '../state/editor-context.ts'
import { showRun } from '../state/shown-run.ts'
import type { Reply } from './send-request.ts'

interface ReplyViewProps {
  readonly reply: Reply
  readonly method: string
  readonly path: string
}

/** A new result is scrolled to: on a phone it is below the fields and the fold. Give its view a `key` for each. */
export const scrollToResult = (result: HTMLElement | null) => result?.scrollIntoView({ block: 'nearest' })

/** The reply; and where it is 404, why. */
export function ReplyView({ reply, method, path }: ReplyViewProps) {
  const { status, milliseconds, bytes, headers, text, json, run } = reply
  return (
    <Stack gap="xs" aria-live="polite" ref={scrollToResult}>
      <Group gap={8}>
        <Badge color={status < 300 ? 'petrol' : status < 500 ? 'sand' : 'red'} variant="filled">
          {status}
        </Badge>
        <Text size="xs" c="dimmed" className="numbers">
          {tryTexts.replySize(
            milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds),
            bytes.toLocaleString('en'),
          )}
        </Text>
      </Group>
      {run === '' ? (
        <Text size="xs" c="dimmed">
          {tryTexts.notTraced}
        </Text>
      ) : (
        <RunLink run={run} />
      )}
      {status === 404 ? <Why reply={reply} method={method} path={path} /> : null}
      {text === '' ? (
        <Text size="xs" c="dimmed">
          {tryTexts.noBody}
        </Text>
      ) : json === undefined ? (
        <Code block>{text.slice(0, 20_000)}</Code>
      ) : (
        <JsonView value={json} label={tryTexts.bodyOfTheReply} />
      )}
      <details>
        <summary style={{ fontSize: 12, cursor: 'pointer' }}>{tryTexts.headers}</summary>
        <Code block fz={11}>
          {headers.map(([name, value]) => `${name}: ${value}`).join('\n')}
        </Code>
      </details>
    </Stack>
  )
}

/** The run is on the canvas; from here one gets back to it, and to its steps. */
function RunLink({ run }: { readonly run: string }) {
  const editor = useEditor()
  const { run: shown } = useShownRun()
  const isShown = shown?.guid === run
  if (isShown && shown.blueprint !== editor.store.getState().guid) return <ElsewhereNote run={shown} />
  return (
    <Group gap={8}>
      <Text size="xs" c="dimmed">
        {isShown ? tryTexts.runShown : tryTexts.runRecorded}
      </Text>
      <Button
        size="compact-xs"
        variant="default"
        onClick={() => {
          showRun(editor, run)
          editor.set({ panel: 'runs' })
        }}
      >
        {tryTexts.stepByStep}
      </Button>
    </Group>
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
      <Text size="xs">{data.reachable ? tryTexts.flowSaid404 : data.reason}</Text>
    </Alert>
  )
}

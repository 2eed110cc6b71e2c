import { Alert, Badge, Button, Group, Stack, Text } from '@mantine/core'
import type { Run } from '../../../shared/api/blueprints/runs.ts'
import { JsonView } from '../../controls/json/json-view.tsx'
import { tryTexts } from '../../texts/bar.ts'
import { outcomeOf } from '../model/runs/run-labels.ts'
import { useEditor } from '../state/editor-context.ts'
import { showRun } from '../state/shown-run.ts'
import { scrollToResult } from './reply-view.tsx'

/** How a run by hand ended: its values are on the drawing. */
export function HandRunView({ run }: { readonly run: Run }) {
  const editor = useEditor()
  const { word, color } = outcomeOf(run)
  const shown = run.reply ? run.reply.body : run.result
  return (
    <Stack gap="xs" aria-live="polite" ref={scrollToResult}>
      <Group gap={8}>
        <Badge color={color} variant="filled">
          {word}
        </Badge>
        <Text size="xs" c="dimmed" className="numbers">
          {tryTexts.ranIn(
            run.recorded_as === 'by_hand' ? tryTexts.ranForReal : tryTexts.triedWithoutEffects,
            (run.us / 1_000).toFixed(1),
          )}
        </Text>
      </Group>
      {run.error ? (
        <Alert color="red" variant="light" p="xs">
          <Text size="xs">{run.error.message}</Text>
        </Alert>
      ) : null}
      <Group gap={8}>
        <Text size="xs" c="dimmed">
          {tryTexts.runShown}
        </Text>
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => {
            showRun(editor, run.guid)
            editor.set({ panel: 'runs' })
          }}
        >
          {tryTexts.stepByStep}
        </Button>
      </Group>
      {shown === null ? null : (
        <JsonView value={shown} label={run.reply ? tryTexts.bodyOfTheReply : tryTexts.result} />
      )}
    </Stack>
  )
}

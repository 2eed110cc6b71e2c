import { CloseButton, Group, ScrollArea, Stack, Text } from '@mantine/core'
import { runsTexts } from '../../texts/runs.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { RunDetails } from './run-details.tsx'
import { RunList } from './run-list.tsx'
import { TracingSwitch } from './tracing-switch.tsx'

/** Runs of the blueprint that were traced; or, when one is shown on the drawing, everything about that one. */
export function RunsPanel() {
  const editor = useEditor()
  const shown = useEditorState((state) => state.shownRun)
  return (
    <ScrollArea h="100%" type="auto" scrollbarSize={8}>
      <Stack gap="md" p={14} pb={40}>
        <Group justify="space-between" wrap="nowrap">
          <Text fw={650}>{runsTexts.runs}</Text>
          <CloseButton
            size="sm"
            aria-label={runsTexts.closeRuns}
            onClick={() => editor.set({ panel: 'properties' })}
          />
        </Group>
        {shown ? (
          <RunDetails key={shown.guid} />
        ) : (
          <>
            <TracingSwitch />
            <RunList />
          </>
        )}
      </Stack>
    </ScrollArea>
  )
}

import { ScrollArea, Stack } from '@mantine/core'
import { useEditorState } from '../state/editor-context.ts'
import { RunDetails } from './run-details.tsx'
import { RunList } from './run-list.tsx'
import { TracingSwitch } from './tracing-switch.tsx'

/** Runs of the blueprint that were traced; or, when one is shown on the drawing, everything about that one. */
export function RunsPanel() {
  const shown = useEditorState((state) => state.shownRun)
  return (
    <ScrollArea h="100%" type="auto" scrollbarSize={8}>
      <Stack gap="md" p={14} pb={40}>
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

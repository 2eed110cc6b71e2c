import { ScrollArea } from '@mantine/core'
import { useEditorState } from '../state/editor-context.ts'
import { BlockForm } from './block-form.tsx'
import { NoteForm } from './note-form.tsx'
import { OverviewPanel } from './overview-panel.tsx'
import { SeveralPanel } from './several-panel.tsx'

/** About what is selected: one block, a remark, several of them, or the whole blueprint. */
export function PropertyPanel() {
  const selection = useEditorState((state) => state.selection)
  const notes = useEditorState(({ drawing }) => drawing.notes)
  const [only] = selection
  const note = selection.size === 1 ? notes.find(({ id }) => only === `note:${id}`) : undefined
  return (
    <ScrollArea
      // Of another block its top is shown.
      key={selection.size === 1 ? only : ''}
      h="100%"
      type="auto"
      scrollbarSize={8}
      // The overview may hold nothing that takes the focus, and on a phone it does not fit: keys scroll it.
      viewportProps={selection.size === 0 ? { tabIndex: 0 } : {}}
    >
      {selection.size === 0 || only === undefined ? (
        <OverviewPanel />
      ) : selection.size > 1 ? (
        <SeveralPanel />
      ) : note ? (
        <NoteForm key={note.id} note={note} />
      ) : (
        <BlockForm key={only} guid={only} />
      )}
    </ScrollArea>
  )
}

import { Button, SegmentedControl, Select, Text, Textarea } from '@mantine/core'
import type { BlueprintNote } from '../../../shared/blueprint-note.ts'
import { FoldButton } from '../folds/fold-button.tsx'
import { noteColors } from '../model/note.ts'
import { useEditor } from '../state/editor-context.ts'
import { removeSelected } from '../state/editor-deeds.ts'
import { LazyInput } from './lazy-input.tsx'
import classes from './properties.module.css'

/** A remark or a frame on the canvas. */
export function NoteForm({ note }: { readonly note: BlueprintNote }) {
  const editor = useEditor()
  const change = (patch: Partial<BlueprintNote>) =>
    editor.runOnNotes(
      'Change remark',
      (notes) => notes.map((one) => (one.id === note.id ? { ...one, ...patch } : one)),
      `note ${note.id}`,
    )
  return (
    <section className={classes.panel} aria-label="Properties">
      <Text fw={650}>{note.collapsed?.lane ? 'Lane' : note.kind === 'group' ? 'Frame' : 'Remark'}</Text>
      {note.kind === 'group' ? <FoldButton note={note.id} /> : null}
      <LazyInput
        value={note.text}
        onCommit={(text) => change({ text })}
        render={(field) => (
          <Textarea {...field} size="xs" label="Text" autosize minRows={3} maxLength={10_000} />
        )}
      />
      <Select
        size="xs"
        label="Colour"
        data={[...noteColors]}
        value={note.color}
        allowDeselect={false}
        onChange={(color) => color && change({ color })}
      />
      {note.collapsed ? null : (
        <SegmentedControl
          size="xs"
          data={[
            { value: 'note', label: 'Remark' },
            { value: 'group', label: 'Frame' },
          ]}
          value={note.kind}
          onChange={(kind) => change({ kind: kind === 'group' ? 'group' : 'note' })}
        />
      )}
      <p className={classes.help}>
        Remarks and frames are saved at once and are not deployed. The blocks in a frame move with it.
      </p>
      <Button
        size="xs"
        variant="default"
        onClick={() => removeSelected(editor)}
        style={{ alignSelf: 'flex-start' }}
      >
        Remove
      </Button>
    </section>
  )
}

import { Button, SegmentedControl, Select, Text, Textarea } from '@mantine/core'
import type { BlueprintNote } from '../../../shared/blueprint-note.ts'
import { propertiesTexts } from '../../texts/properties.ts'
import { FoldButton } from '../folds/fold-button.tsx'
import { noteColors } from '../model/changes/note.ts'
import { useEditor } from '../state/editor-context.ts'
import { removeSelected } from '../state/editor-deeds.ts'
import { LazyInput } from './lazy-input.tsx'
import classes from './properties.module.css'

/** A remark or a frame on the canvas. */
export function NoteForm({ note }: { readonly note: BlueprintNote }) {
  const editor = useEditor()
  const change = (patch: Partial<BlueprintNote>) =>
    editor.runOnNotes(
      propertiesTexts.changeRemark,
      (notes) => notes.map((one) => (one.id === note.id ? { ...one, ...patch } : one)),
      `note ${note.id}`,
    )
  return (
    <section className={classes.panel} aria-label={propertiesTexts.properties}>
      <Text fw={650}>
        {note.collapsed?.lane
          ? propertiesTexts.lane
          : note.kind === 'group'
            ? propertiesTexts.frame
            : propertiesTexts.remark}
      </Text>
      {note.kind === 'group' ? <FoldButton note={note.id} /> : null}
      <LazyInput
        value={note.text}
        onCommit={(text) => change({ text })}
        render={(field) => (
          <Textarea
            {...field}
            size="xs"
            label={propertiesTexts.text}
            autosize
            minRows={3}
            maxLength={10_000}
          />
        )}
      />
      <Select
        size="xs"
        label={propertiesTexts.colour}
        data={[...noteColors]}
        value={note.color}
        allowDeselect={false}
        onChange={(color) => color && change({ color })}
      />
      {note.collapsed ? null : (
        <SegmentedControl
          size="xs"
          data={[
            { value: 'note', label: propertiesTexts.remark },
            { value: 'group', label: propertiesTexts.frame },
          ]}
          value={note.kind}
          onChange={(kind) => change({ kind: kind === 'group' ? 'group' : 'note' })}
        />
      )}
      <p className={classes.help}>{propertiesTexts.remarkHelp}</p>
      <Button
        size="xs"
        variant="default"
        onClick={() => removeSelected(editor)}
        style={{ alignSelf: 'flex-start' }}
      >
        {propertiesTexts.remove}
      </Button>
    </section>
  )
}

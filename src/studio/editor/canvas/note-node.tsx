import { type NodeProps, NodeResizer } from '@xyflow/react'
import { memo, useState } from 'react'
import { Icon } from '../../controls/icon.tsx'
import { canvasTexts } from '../../texts/canvas.ts'
import { foldFrame } from '../folds/fold-commands.ts'
import { onGrid } from '../model/places/node-geometry.ts'
import { useEditor } from '../state/editor-context.ts'
import type { NoteNodeType } from './canvas-nodes.ts'
import classes from './note-node.module.css'

/** A remark, or a frame with a name around blocks. A double click, or Enter, changes the text. */
export const NoteNode = memo(function NoteNode({ data, selected }: NodeProps<NoteNodeType>) {
  const editor = useEditor()
  const { note } = data
  // A new one is selected, and empty: what is typed next is its text.
  const [editing, setEditing] = useState(selected && note.text === '')
  const change = (label: string, patch: Partial<typeof note>) =>
    editor.runOnNotes(label, (notes) => notes.map((one) => (one.id === note.id ? { ...one, ...patch } : one)))
  return (
    <div className={classes.note} data-kind={note.kind} data-color={note.color}>
      <NodeResizer
        isVisible={selected}
        minWidth={120}
        minHeight={50}
        onResizeEnd={(_event, { x, y, width, height }) =>
          change(canvasTexts.resize, {
            position: onGrid({ x, y }),
            size: { width: Math.round(width), height: Math.round(height) },
          })
        }
      />
      {note.kind === 'group' && !editing ? <FoldButton note={note} /> : null}
      {editing ? (
        <textarea
          className={`${classes.text} nodrag nopan nowheel`}
          defaultValue={note.text}
          aria-label={canvasTexts.text}
          // biome-ignore lint/a11y/noAutofocus: it is new, or replaces the text that was just double-clicked
          autoFocus
          onBlur={(event) => {
            setEditing(false)
            if (event.currentTarget.value !== note.text)
              change(canvasTexts.changeRemark, { text: event.currentTarget.value })
          }}
          onKeyDown={(event) => {
            if (event.key === 'Escape') event.currentTarget.blur()
            event.stopPropagation()
          }}
        />
      ) : (
        // biome-ignore lint/a11y/noStaticElementInteractions: the properties panel has a field for those without a mouse
        <div
          className={classes.text}
          data-foldable={note.kind === 'group' || undefined}
          onDoubleClick={() => setEditing(true)}
        >
          {note.text || canvasTexts.doubleClickToWrite}
        </div>
      )}
    </div>
  )
})

function FoldButton({ note }: NoteNodeType['data']) {
  const editor = useEditor()
  return (
    <button
      type="button"
      className={`${classes.fold} nodrag nopan`}
      aria-label={canvasTexts.collapse(note.text || canvasTexts.theFrame)}
      aria-expanded
      title={canvasTexts.collapseOneBoxC}
      onClick={(event) => {
        event.stopPropagation()
        foldFrame(editor, note.id)
      }}
    >
      <Icon name="chevron" size={14} />
    </button>
  )
}

import { Button, Group, Text } from '@mantine/core'
import type { Alignment } from '../model/align.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { alignSelected, copySelected, groupSelected, layOut, removeSelected } from '../state/editor-deeds.ts'
import classes from './properties.module.css'

const alignments: readonly (readonly [Alignment, string])[] = [
  ['left', 'Left edges'],
  ['right', 'Right edges'],
  ['top', 'Tops'],
  ['bottom', 'Bottoms'],
  ['across', 'Spread across'],
  ['down', 'Spread down'],
]

/** What can be done with several things at once. */
export function SeveralPanel() {
  const editor = useEditor()
  const size = useEditorState(({ selection }) => selection.size)
  return (
    <section className={classes.panel} aria-label="Properties">
      <Text fw={650}>{size} selected</Text>
      <div className={classes.section}>
        <h2 className={classes.sectionTitle}>Align</h2>
        <Group gap={6}>
          {alignments.map(([how, label]) => (
            <Button key={how} size="compact-xs" variant="default" onClick={() => alignSelected(editor, how)}>
              {label}
            </Button>
          ))}
        </Group>
      </div>
      <div className={classes.section}>
        <Group gap={6}>
          <Button size="compact-xs" variant="default" onClick={() => void layOut(editor)}>
            Arrange
          </Button>
          <Button size="compact-xs" variant="default" onClick={() => groupSelected(editor)}>
            Frame
          </Button>
          <Button size="compact-xs" variant="default" onClick={() => void copySelected(editor)}>
            Copy
          </Button>
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => editor.set({ dialog: { kind: 'extract' } })}
          >
            Extract to a function
          </Button>
          <Button size="compact-xs" variant="default" color="red" onClick={() => removeSelected(editor)}>
            Remove
          </Button>
        </Group>
      </div>
    </section>
  )
}

import { Button, Group, Text } from '@mantine/core'
import { propertiesTexts } from '../../texts/properties.ts'
import type { Alignment } from '../model/places/align.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { alignSelected, copySelected, groupSelected, layOut, removeSelected } from '../state/editor-deeds.ts'
import classes from './properties.module.css'

const alignments: readonly (readonly [Alignment, string])[] = [
  ['left', propertiesTexts.leftEdges],
  ['right', propertiesTexts.rightEdges],
  ['top', propertiesTexts.tops],
  ['bottom', propertiesTexts.bottoms],
  ['across', propertiesTexts.spreadAcross],
  ['down', propertiesTexts.spreadDown],
]

/** What can be done with several things at once. */
export function SeveralPanel() {
  const editor = useEditor()
  const size = useEditorState(({ selection }) => selection.size)
  return (
    <section className={classes.panel} aria-label={propertiesTexts.properties}>
      <Text fw={650}>{propertiesTexts.selected(size)}</Text>
      <div className={classes.section}>
        <h2 className={classes.sectionTitle}>{propertiesTexts.align}</h2>
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
            {propertiesTexts.arrange}
          </Button>
          <Button size="compact-xs" variant="default" onClick={() => groupSelected(editor)}>
            {propertiesTexts.frame}
          </Button>
          <Button size="compact-xs" variant="default" onClick={() => void copySelected(editor)}>
            {propertiesTexts.copy}
          </Button>
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => editor.set({ dialog: { kind: 'extract' } })}
          >
            {propertiesTexts.extractToAFunction}
          </Button>
          <Button size="compact-xs" variant="default" color="red" onClick={() => removeSelected(editor)}>
            {propertiesTexts.remove}
          </Button>
        </Group>
      </div>
    </section>
  )
}

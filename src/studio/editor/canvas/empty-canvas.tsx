import { Button, Group, Kbd, Text } from '@mantine/core'
import { canvasTexts } from '../../texts/canvas.ts'
import { useEditor } from '../state/editor-context.ts'
import { addBlock } from '../state/editor-deeds.ts'
import classes from './canvas.module.css'

/** What a new blueprint says: how it begins. */
export function EmptyCanvas() {
  const editor = useEditor()
  return (
    <div className={classes.empty}>
      <div className={`${classes.emptyCard} surface`}>
        <Text fw={650} size="lg">
          {canvasTexts.startTitle}
        </Text>
        <Text size="sm" c="dimmed" mt={4}>
          {canvasTexts.startText}
        </Text>
        <Group justify="center" mt="md" gap="xs">
          <Button onClick={() => addBlock(editor, 'on_startup_register_uri_get', { x: 0, y: 0 })}>
            {canvasTexts.startWithGet}
          </Button>
          <Button variant="default" onClick={() => editor.set({ dialog: { kind: 'add' } })}>
            {canvasTexts.chooseABlock}{' '}
            <Kbd size="xs" ml={8}>
              {canvasTexts.a}
            </Kbd>
          </Button>
        </Group>
      </div>
    </div>
  )
}

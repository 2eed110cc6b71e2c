import { Button, Group, Kbd, Text } from '@mantine/core'
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
          Start with a trigger
        </Text>
        <Text size="sm" c="dimmed" mt={4}>
          A request to an address, a time, or a change of a document. Then drag a wire from its pin, drop it
          on empty canvas, and choose what happens next.
        </Text>
        <Group justify="center" mt="md" gap="xs">
          <Button onClick={() => addBlock(editor, 'on_startup_register_uri_get', { x: 0, y: 0 })}>
            Answer a GET request
          </Button>
          <Button variant="default" onClick={() => editor.set({ dialog: { kind: 'add' } })}>
            Choose a block{' '}
            <Kbd size="xs" ml={8}>
              A
            </Kbd>
          </Button>
        </Group>
      </div>
    </div>
  )
}

import { Alert, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useMemo, useState } from 'react'
import { focusDrawingIn } from '../frame/focus-drawing.ts'
import { wordsOf } from '../model/block-words.ts'
import type { Flow } from '../model/flow.ts'
import { count } from '../model/words.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { extractFunction, nameForFunction } from './extract-function.ts'

/** Makes the selected blocks a custom function, or says why that cannot be. */
export function ExtractDialog() {
  const editor = useEditor()
  const isOpen = useEditorState(({ dialog }) => dialog?.kind === 'extract')
  return (
    <Modal
      opened={isOpen}
      onClose={() => editor.set({ dialog: undefined })}
      title={
        <Text fw={650} size="sm">
          Extract to a function
        </Text>
      }
      transitionProps={{ duration: 0 }}
      size={460}
      yOffset="12vh"
      centered={false}
    >
      {isOpen ? <Extracting /> : null}
    </Modal>
  )
}

/** As a custom function takes it. */
const NAME = /^[\p{L}\p{N}_][\p{L}\p{N} _.:-]{0,127}$/u

function Extracting() {
  const editor = useEditor()
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const selection = useEditorState((state) => state.selection)
  const [name, setName] = useState(() => {
    const [first] = [...flow.keys()].filter((guid) => selection.has(guid))
    const words = first === undefined ? '' : wordsOf(flow, catalogue, first)
    return nameForFunction(flow, words === '' ? '' : (flow.get(first ?? '')?.title ?? '') || words.kind)
  })
  const written = name.trim()
  const made = useMemo(
    () => extractFunction(flow, catalogue, selection, written, editor.newGuid),
    [flow, catalogue, selection, written, editor],
  )
  const problem = nameProblem(flow, written)
  const extract = () => {
    if ('refused' in made || problem !== undefined) return
    editor.set({ dialog: undefined })
    editor.run('Extract to a function', () => made.flow)
    editor.select([made.call])
    focusDrawingIn(50)
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        extract()
      }}
    >
      <Stack gap="sm">
        {'refused' in made ? (
          <Alert color="red" title="These blocks cannot be a function" role="alert">
            {made.refused}
          </Alert>
        ) : (
          <>
            <TextInput
              label="Name of the function"
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
              error={problem}
              data-autofocus
            />
            <Text size="sm">
              {count(made.blocks, 'block')} {made.blocks === 1 ? 'becomes' : 'become'} the function, and a
              call stands in {made.blocks === 1 ? 'its' : 'their'} place.
            </Text>
            <Text size="sm" c="dimmed">
              Takes {listed(made.takes)}. Returns {listed(made.returns)}.
            </Text>
          </>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={() => editor.set({ dialog: undefined })}>
            Cancel
          </Button>
          <Button type="submit" disabled={'refused' in made || problem !== undefined}>
            Extract
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function nameProblem(flow: Flow, name: string): string | undefined {
  if (!NAME.test(name))
    return 'Use 1 to 128 letters, digits, spaces and _ . : -, and start with a letter or digit.'
  return nameForOwn(flow).has(name) ? 'This blueprint has a function of this name.' : undefined
}

function nameForOwn(flow: Flow): ReadonlySet<unknown> {
  return new Set(
    [...flow.values()].flatMap(({ type, fields }) =>
      type === 'trigger_custom_function' ? [fields.name] : [],
    ),
  )
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'nothing' : names.join(', ')
}

import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useMemo, useState } from 'react'
import { extractTexts } from '../../texts/canvas.ts'
import { countsTexts } from '../../texts/editor.ts'
import { focusDrawingIn } from '../frame/focus-drawing.ts'
import type { Catalogue } from '../model/block-description.ts'
import type { Flow } from '../model/flow.ts'
import { wordsOf } from '../model/words/block-labels.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { extractFunction, nameForFunction } from './extract-function.ts'

/** As a custom function takes it. */
const NAME = /^[\p{L}\p{N}_][\p{L}\p{N} _.:-]{0,127}$/u

/** Which function the selected blocks become, or why they cannot. */
export function ExtractForm() {
  const editor = useEditor()
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const selection = useEditorState((state) => state.selection)
  const [name, setName] = useState(() => suggestedName(flow, catalogue, selection))
  const written = name.trim()
  const made = useMemo(
    () => extractFunction(flow, catalogue, selection, written, editor.newGuid),
    [flow, catalogue, selection, written, editor],
  )
  const problem = nameProblem(flow, written)
  const extract = () => {
    if ('refused' in made || problem !== undefined) return
    editor.set({ dialog: undefined })
    editor.run(extractTexts.extractToAFunction, () => made.flow)
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
          <Alert color="red" title={extractTexts.cannotExtract} role="alert">
            {made.refused}
          </Alert>
        ) : (
          <>
            <TextInput
              label={extractTexts.nameOfTheFunction}
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
              error={problem}
              data-autofocus
            />
            <Text size="sm">{extractTexts.becomes(countsTexts.blocks(made.blocks), made.blocks)}</Text>
            <Text size="sm" c="dimmed">
              {extractTexts.takesAndReturns(listed(made.takes), listed(made.returns))}
            </Text>
          </>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={() => editor.set({ dialog: undefined })}>
            {extractTexts.cancel}
          </Button>
          <Button type="submit" disabled={'refused' in made || problem !== undefined}>
            {extractTexts.extract}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** After the first of the blocks. */
function suggestedName(flow: Flow, catalogue: Catalogue, selection: ReadonlySet<string>): string {
  const [first] = [...flow.keys()].filter((guid) => selection.has(guid))
  const words = first === undefined ? '' : wordsOf(flow, catalogue, first)
  return nameForFunction(flow, words === '' ? '' : (flow.get(first ?? '')?.title ?? '') || words.kind)
}

function nameProblem(flow: Flow, name: string): string | undefined {
  if (!NAME.test(name)) return extractTexts.nameRule
  return nameForOwn(flow).has(name) ? extractTexts.nameTaken : undefined
}

function nameForOwn(flow: Flow): ReadonlySet<unknown> {
  return new Set(
    [...flow.values()].flatMap(({ type, fields }) =>
      type === 'trigger_custom_function' ? [fields.name] : [],
    ),
  )
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? extractTexts.nothing : names.join(', ')
}

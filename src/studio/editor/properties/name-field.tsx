import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { propertiesTexts } from '../../texts/properties.ts'
import { namesInFlow } from '../expressions/block-refs.ts'
import { nameProblem } from '../expressions/name-problem.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { LazyInput } from './lazy-input.tsx'

interface NameFieldProps {
  readonly guid: string
  readonly onChange: (name: string) => void
}

/** What expressions and files call the block. Expressions that name it follow. */
export function NameField({ guid, onChange }: NameFieldProps) {
  const editor = useEditor()
  const name = useEditorState(({ drawing }) => namesInFlow(drawing.flow).get(guid) ?? '')
  const [problem, setProblem] = useState<string>()
  return (
    <LazyInput
      value={name}
      onCommit={(text) => {
        const wrong = nameProblem(text, guid, editor.store.getState().drawing.flow)
        setProblem(wrong)
        if (wrong === undefined) onChange(text)
      }}
      render={(field) => (
        <TextInput
          {...field}
          size="xs"
          label={propertiesTexts.nameInExpressions}
          maxLength={63}
          spellCheck={false}
          error={problem}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        />
      )}
    />
  )
}

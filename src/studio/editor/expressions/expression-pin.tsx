import { useQuery } from '@tanstack/react-query'
import { useMemo, useRef, useState } from 'react'
import type { SavedInPin } from '../../../shared/blueprint.ts'
import { environmentValues } from '../../api/environment.ts'
import { valuesOf } from '../../api/named-records.ts'
import { propertiesTexts } from '../../texts/properties.ts'
import { setExpression } from '../model/changes/flow-changes.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import classes from './expression-pin.module.css'
import { expressionScope } from './expression-scope.ts'
import { useCodeField } from './field/code-field-loader.ts'
import { LastValues } from './last-values.tsx'
import { fieldText, templateOf, valueInField } from './template-text.ts'
import { useLastRun } from './use-last-run.ts'
import { ValuePicker } from './value-picker.tsx'

interface ExpressionPinProps {
  readonly guid: string
  readonly pin: string
  readonly saved: SavedInPin | undefined
  readonly mode: 'expression' | 'text'
  /** The type of the pin. */
  readonly type: string
  readonly problem: string | undefined
  /** It has just been chosen, so it takes the keyboard. */
  readonly isNew: boolean
  /** Where its cursor is then. */
  readonly cursor: number | undefined
}

/** The expression of a pin, or its text with values, and what both were the last time. */
export function ExpressionPin({ guid, pin, saved, mode, type, problem, isNew, cursor }: ExpressionPinProps) {
  const editor = useEditor()
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const run = useLastRun(guid)
  const { data: values } = useQuery(environmentValues.all)
  const env = useMemo(() => values && valuesOf(values), [values])
  const scope = useMemo(
    () => expressionScope(flow, catalogue, { block: guid, pin }, { run, env }),
    [flow, catalogue, guid, pin, run, env],
  )
  const CodeField = useCodeField(true)
  const [narrow, setNarrow] = useState<{ readonly path: string }>()
  const insert = useRef<(text: string) => void>(undefined)
  const expression = saved?.expression ?? ''
  const set = (text: string) =>
    editor.run(propertiesTexts.set(pin), (now) => setExpression(now, guid, pin, text), `set ${guid} ${pin}`)
  const step = run?.steps.findLast(({ block }) => block === guid)
  return (
    <>
      {CodeField === undefined ? (
        <div className={classes.waiting} data-awaits-keys={isNew || undefined}>
          {expression}
        </div>
      ) : (
        <CodeField
          key={mode}
          pin={pin}
          mode={mode}
          example={type === 'query' ? propertiesTexts.conditionExample : propertiesTexts.expressionExample}
          value={mode === 'text' ? (fieldText(expression) ?? '') : expression}
          scope={scope}
          problem={problem}
          isNew={isNew}
          cursor={cursor}
          onValue={(path) => setNarrow({ path })}
          onCommit={(text) => set(mode === 'text' && text !== '' ? templateOf(text) : text)}
          onOpen={(open) => {
            insert.current = open
          }}
        />
      )}
      {mode === 'text' ? (
        <div>
          <ValuePicker
            pin={pin}
            scope={scope}
            narrow={narrow}
            onPick={(path) => insert.current?.(valueInField(path))}
            onClose={() => setNarrow(undefined)}
          />
        </div>
      ) : null}
      {saved?.expression === undefined ? null : (
        <LastValues saved={saved} scope={scope} got={step?.in[pin]} />
      )}
    </>
  )
}

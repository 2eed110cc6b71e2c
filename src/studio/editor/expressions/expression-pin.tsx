import { useQuery } from '@tanstack/react-query'
import { useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { Run } from '../../../shared/api/blueprints/runs.ts'
import type { SavedInPin } from '../../../shared/blueprint.ts'
import { valuesOf } from '../../api/named-records.ts'
import { environmentValues } from '../../api/operate.ts'
import { propertiesTexts } from '../../texts/properties.ts'
import { setExpression } from '../model/changes/flow-changes.ts'
import { glance } from '../model/runs/glance.ts'
import { runQuery, useShownRun } from '../runs/run-queries.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { useLastValues } from '../values/use-last-values.ts'
import classes from './expression-pin.module.css'
import { type ExpressionScope, expressionScope, knownValue } from './expression-scope.ts'
import { useCodeField } from './field/code-field-loader.ts'
import { namesRead } from './parsed-pin.ts'
import { fieldText, templateOf, valueInField } from './template-text.ts'
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
  const { scope, step } = usePinScope(guid, pin)
  const CodeField = useCodeField(true)
  const [narrow, setNarrow] = useState<{ readonly path: string }>()
  const insert = useRef<(text: string) => void>(undefined)
  const expression = saved?.expression ?? ''
  const set = (text: string) =>
    editor.run(
      propertiesTexts.set(pin),
      (now) => setExpression(now, guid, pin, mode === 'text' && text !== '' ? templateOf(text) : text),
      `set ${guid} ${pin}`,
    )
  const written = mode === 'text' ? (fieldText(expression) ?? '') : expression
  return (
    <>
      {CodeField === undefined ? (
        <WaitingField
          label={mode === 'text' ? propertiesTexts.textOf(pin) : propertiesTexts.expressionOf(pin)}
          value={written}
          isNew={isNew}
          onType={set}
        />
      ) : (
        <CodeField
          key={mode}
          pin={pin}
          mode={mode}
          example={type === 'query' ? propertiesTexts.conditionExample : propertiesTexts.expressionExample}
          value={written}
          scope={scope}
          problem={problem}
          isNew={isNew}
          cursor={cursor}
          onValue={(path) => setNarrow({ path })}
          onCommit={set}
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

/** What the names of the pin's expression stand for, and how its block went in the last run. */
function usePinScope(guid: string, pin: string) {
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const run = useLastRun(guid)
  const { data: values } = useQuery(environmentValues.all)
  const env = useMemo(() => values && valuesOf(values), [values])
  const scope = useMemo(
    () => expressionScope(flow, catalogue, { block: guid, pin }, { run, env }),
    [flow, catalogue, guid, pin, run, env],
  )
  return { scope, step: run?.steps.findLast(({ block }) => block === guid) }
}

interface WaitingFieldProps {
  readonly label: string
  readonly value: string
  readonly isNew: boolean
  readonly onType: (text: string) => void
}

/** Until the editor of expressions is loaded: what is typed is in it then. */
function WaitingField({ label, value, isNew, onType }: WaitingFieldProps) {
  const field = useRef<HTMLInputElement>(null)
  const [text, setText] = useState(value)
  useLayoutEffect(() => {
    if (isNew) field.current?.focus()
  }, [isNew])
  return (
    <input
      ref={field}
      className={classes.waiting}
      aria-label={label}
      value={text}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value)
        onType(currentTarget.value)
      }}
    />
  )
}

interface LastValuesProps {
  readonly saved: SavedInPin
  readonly scope: ExpressionScope
  /** What the pin got in the last run that passed the block. */
  readonly got: unknown
}

/** What the expression gave in the last run that passed its block, and what was known of the names in it. */
function LastValues({ saved, scope, got }: LastValuesProps) {
  const names = namesRead(saved).map((path) => ({ path: path.join('.'), value: knownValue(scope, path) }))
  const known = names.filter(({ value }) => value !== undefined)
  if (got === undefined && known.length === 0) return null
  return (
    <dl className={classes.last} aria-label={propertiesTexts.lastRunValues}>
      {got === undefined ? null : (
        <div className={classes.result}>
          <dt>{propertiesTexts.lastValue}</dt>
          <dd>{glance(got, 40)}</dd>
        </div>
      )}
      {known.map(({ path, value }) => (
        <div key={path}>
          <dt>{path}</dt>
          <dd>{glance(value, 40)}</dd>
        </div>
      ))}
    </dl>
  )
}

/** The run that is drawn, else the last one that passed the block, else the newest whose values are shown. */
function useLastRun(block: string): Run | undefined {
  const { shown, run } = useShownRun()
  const values = useLastValues()
  const [any] = values.values()
  const guid = (values.get(block) ?? any)?.run.guid
  const last = useQuery({ ...runQuery(guid ?? ''), enabled: shown === undefined && guid !== undefined })
  return run ?? (shown === undefined ? last.data : undefined)
}

import { useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import { propertiesTexts } from '../../../texts/properties.ts'
import { ProblemNote } from '../../properties/problem-note.tsx'
import { useFieldFocus } from '../../properties/use-field-focus.ts'
import { completionsAt } from '../completions.ts'
import classes from '../expression-pin.module.css'
import { expressionProblem } from '../expression-problems.ts'
import type { ExpressionScope } from '../expression-scope.ts'
import { type CodeField as Field, openCodeField } from './open-code-field.ts'

interface CodeFieldProps {
  readonly pin: string
  readonly mode: 'expression' | 'text'
  readonly value: string
  /** Shown in an empty expression. */
  readonly example: string
  readonly scope: ExpressionScope
  /** What the server says of the stored text. */
  readonly problem: string | undefined
  /** It takes the keyboard when it appears. */
  readonly isNew: boolean
  /** Where the cursor is then; otherwise behind the text. */
  readonly cursor?: number | undefined
  /** Called when a pause is made behind a whole expression, the field is left or Enter is pressed. */
  readonly onCommit: (text: string) => void
  /** Takes the function that inserts text at the cursor. */
  readonly onOpen?: (insert: (text: string) => void) => void
  /** A value of the text was opened; it is selected. */
  readonly onValue?: (path: string) => void
}

const PAUSE_MS = 450

/** An expression, or text with values, with help and problems while one types. */
export function CodeField(props: CodeFieldProps) {
  const { pin, mode, value, scope, problem, isNew } = props
  const id = useId()
  const parent = useRef<HTMLDivElement>(null)
  const field = useRef<Field>(undefined)
  const [text, setText] = useState(value)
  const [isPaused, setPaused] = useState(true)
  const typing = useRef<ReturnType<typeof setTimeout>>(undefined)
  const latest = useRef({ ...props, text })
  latest.current = { ...props, text: latest.current.text }
  const check = (now: string) =>
    latest.current.mode === 'text' ? undefined : expressionProblem(now, latest.current.scope)

  // Before the browser takes the next key: the field that it replaces has just gone.
  // biome-ignore lint/correctness/useExhaustiveDependencies: one field as long as the pin is shown; it reads the latest through refs
  useLayoutEffect(() => {
    if (!parent.current) return undefined
    const commit = () => {
      clearTimeout(typing.current)
      typing.current = undefined
      setPaused(true)
      const now = latest.current
      if (now.text !== now.value) now.onCommit(now.text)
    }
    const opened = openCodeField({
      parent: parent.current,
      text: value,
      mode,
      label: mode === 'text' ? propertiesTexts.textOf(pin) : propertiesTexts.expressionOf(pin),
      placeholder: mode === 'text' ? propertiesTexts.textWithValues : props.example,
      describedBy: id,
      completions: (now, at) => completionsAt(now, at, latest.current.scope),
      problem: check,
      changed(now) {
        latest.current.text = now
        setText(now)
        clearTimeout(typing.current)
        setPaused(false)
        typing.current = setTimeout(() => {
          setPaused(true)
          if (check(now)?.severity !== 'error') commit()
        }, PAUSE_MS)
      },
      finished: commit,
      valueOpened: (path) => latest.current.onValue?.(path),
    })
    field.current = opened
    focused.current = opened.element
    if (isNew) opened.focus(props.cursor)
    props.onOpen?.(opened.insert)
    return () => {
      if (typing.current !== undefined) commit()
      opened.close()
    }
  }, [])

  // Behind the effect that opens the field.
  const focused = useFieldFocus<HTMLElement>(pin)

  // A change of another user, an undo or a new name shows at once, but not while the user is typing.
  useEffect(() => {
    if (typing.current !== undefined) return
    latest.current.text = value
    setText(value)
    field.current?.set(value)
  }, [value])

  // biome-ignore lint/correctness/useExhaustiveDependencies: what the text is checked against
  useEffect(() => field.current?.refresh(), [scope])

  const found = check(text)
  // While a word is being written at the end, it is not wrong yet.
  const own = isPaused || (found && found.end < text.length) ? found : undefined
  const said = own?.message ?? (text === value && !found ? problem : undefined)
  return (
    <div>
      <div ref={parent} />
      <div id={id} aria-live="polite" className={classes.said}>
        {said === undefined ? null : (
          <ProblemNote message={said} level={own?.severity === 'warning' ? 'warn' : 'error'} />
        )}
      </div>
    </div>
  )
}

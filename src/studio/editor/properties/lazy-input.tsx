import {
  type ChangeEvent,
  type FocusEvent,
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { flushSync } from 'react-dom'
import { loadCodeField, useCodeField } from '../expressions/field/code-field-loader.ts'

type Input = HTMLInputElement | HTMLTextAreaElement

interface Field {
  readonly value: string
  readonly onChange: (event: ChangeEvent<Input>) => void
  readonly onFocus: (event: FocusEvent<Input>) => void
  readonly onBlur: () => void
  readonly onKeyDown: (event: KeyboardEvent<Input>) => void
}

interface LazyInputProps {
  readonly value: string
  /** Called when a pause is made, the field is left or Enter is pressed; not while one types. */
  readonly onCommit: (text: string) => void
  /** The text begins with `=`: what follows it, and where the cursor is. Without it such a text is like any other. */
  readonly onExpression?: (text: string, cursor: number) => void
  readonly render: (field: Field) => ReactNode
}

const PAUSE_MS = 450

/** A field whose text counts when its writer pauses: half a word is neither stored nor checked. */
export function LazyInput({ render, ...props }: LazyInputProps) {
  const { text, input, latest, type, commit, stop } = useTypedText(props)
  const isExpression = isHandedOver(text, props.onExpression)
  const code = useCodeField(isExpression)

  /** One task: the editor of expressions has the keyboard before the next key comes. */
  const handOver = () => {
    const { text: now, onExpression: hand } = latest.current
    if (!hand || !now.startsWith('=')) return
    stop()
    const cursor = Math.max(0, (input.current?.selectionStart ?? now.length) - 1)
    flushSync(() => hand(now.slice(1), cursor))
  }
  // The editor has come while the text was being typed here.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it reads the latest through refs
  useEffect(() => {
    if (isExpression && code && input.current === document.activeElement) queueMicrotask(handOver)
  }, [code])

  return render({
    value: text,
    onChange(event) {
      input.current = event.currentTarget
      type(event.currentTarget.value)
      if (code) handOver()
    },
    onFocus(event) {
      input.current = event.currentTarget
      if (latest.current.onExpression) loadCodeField().catch(() => undefined)
    },
    onBlur: commit,
    onKeyDown(event) {
      if (event.key === 'Enter' && !(event.currentTarget instanceof HTMLTextAreaElement)) commit()
    },
  })
}

type Committed = Omit<LazyInputProps, 'render'>

/** The text is for the editor of expressions, where there is one. */
function isHandedOver(text: string, onExpression: Committed['onExpression'] | undefined): boolean {
  return onExpression !== undefined && text.startsWith('=')
}

/** What was typed, and when it is stored. */
function useTypedText({ value, onCommit, onExpression }: Committed) {
  const [text, setText] = useState(value)
  const typing = useRef(false)
  const isOwn = useRef(false)
  const input = useRef<Input>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const latest = useRef({ text, value, onCommit, onExpression })
  latest.current = { ...latest.current, value, onCommit, onExpression }

  // A change of another user, or an undo, shows at once, but not while the user is typing. What was typed and is stored in another
  // form, such as 1 of `1.`, does not take its place either: the next key belongs to what was typed.
  useLayoutEffect(() => {
    if (typing.current || (isOwn.current && input.current === document.activeElement)) return
    latest.current.text = value
    setText(value)
  }, [value])

  const stop = () => {
    clearTimeout(timer.current)
    typing.current = false
  }
  const commit = () => {
    stop()
    const now = latest.current
    if (now.text === now.value) return
    if (now.onExpression && now.text.startsWith('=')) {
      now.onExpression(now.text.slice(1), now.text.length - 1)
      return
    }
    isOwn.current = true
    now.onCommit(now.text)
    setTimeout(() => {
      isOwn.current = false
    })
  }
  // What was typed last counts also when another block is selected meanwhile.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when it goes; it reads the latest through refs
  useEffect(() => () => (typing.current ? commit() : undefined), [])

  const type = (now: string) => {
    typing.current = true
    latest.current.text = now
    setText(now)
    clearTimeout(timer.current)
    if (!isHandedOver(now, latest.current.onExpression)) timer.current = setTimeout(commit, PAUSE_MS)
  }
  return { text, input, latest, type, commit, stop }
}

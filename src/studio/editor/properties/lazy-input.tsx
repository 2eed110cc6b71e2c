import { type ChangeEvent, type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react'

interface Field {
  readonly value: string
  readonly onChange: (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => void
  readonly onBlur: () => void
  readonly onKeyDown: (event: KeyboardEvent<HTMLInputElement | HTMLTextAreaElement>) => void
}

interface LazyInputProps {
  readonly value: string
  /** Called when a pause is made, the field is left or Enter is pressed; not while one types. */
  readonly onCommit: (text: string) => void
  readonly render: (field: Field) => ReactNode
}

const PAUSE_MS = 450

/** A field whose text counts when its writer pauses: half a word is neither stored nor checked. */
export function LazyInput({ value, onCommit, render }: LazyInputProps) {
  const [text, setText] = useState(value)
  const typing = useRef(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const latest = useRef({ text, value, onCommit })
  latest.current = { text, value, onCommit }

  // A change of another user, or an undo, shows at once, but not while the user is typing.
  useEffect(() => {
    if (!typing.current) setText(value)
  }, [value])

  const commit = () => {
    clearTimeout(timer.current)
    typing.current = false
    const now = latest.current
    if (now.text !== now.value) now.onCommit(now.text)
  }
  // What was typed last counts also when another block is selected meanwhile.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when it goes; it reads the latest through refs
  useEffect(() => () => (typing.current ? commit() : undefined), [])

  return render({
    value: text,
    onChange(event) {
      typing.current = true
      setText(event.currentTarget.value)
      clearTimeout(timer.current)
      timer.current = setTimeout(commit, PAUSE_MS)
    },
    onBlur: commit,
    onKeyDown(event) {
      if (event.key === 'Enter' && !(event.currentTarget instanceof HTMLTextAreaElement)) commit()
    },
  })
}

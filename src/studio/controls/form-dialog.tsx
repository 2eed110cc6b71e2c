import { Button, Group, Modal, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import {
  createContext,
  type ReactNode,
  type RefObject,
  Suspense,
  useContext,
  useEffect,
  useLayoutEffect,
  useRef,
} from 'react'
import { controlsTexts } from '../texts/shell.ts'
import { FieldErrors } from './field-errors.tsx'
import { useDialogRequest } from './hooks.ts'
import { ErrorNotice } from './states.tsx'

interface FormDialogProps {
  readonly opened: boolean
  readonly onClose: () => void
  readonly title: string
  /** The verb on the button. */
  readonly action: string
  /** What the button does; the dialog closes when it is done, unless it gives {@link stayOpen}, and says why when it failed. */
  readonly submit: () => Promise<unknown>
  readonly size?: string
  /** A part that the button needs. It comes with the dialog, so that a server which restarts meanwhile is asked for nothing but the request. */
  readonly fetchAhead?: () => Promise<unknown>
  readonly children: ReactNode
}

/** A form in a dialog. What is wrong with a field is said at the field (see {@link FieldErrors}), and above all of them. */
export function FormDialog(props: FormDialogProps) {
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={props.title} size={props.size ?? 'md'}>
      <Form {...props} />
    </Modal>
  )
}

function Form({ opened, title, submit, onClose, action, fetchAhead, children }: FormDialogProps) {
  const failed = controlsTexts.notDone(title)
  const send = useDialogRequest({ failed, opened, onClose, send: submit })
  useEffect(() => {
    // What could not be fetched is said by the button.
    fetchAhead?.().catch(() => undefined)
  }, [fetchAhead])
  const form = useRef<HTMLFormElement>(null)
  const early = useContext(EarlyKeys)
  useLayoutEffect(() => {
    const field = firstField(form.current)
    // For the timer of the dialog, which would move the focus on to its first button.
    field?.setAttribute('data-autofocus', 'true')
    field?.focus({ preventScroll: true })
    if (early.current !== '') append(field, early.current)
    early.current = ''
    return field && holdFocus(field)
  }, [early])
  useEffect(() => {
    if (send.error === null) return
    // The button of a long form is far from what is wrong.
    const wrong = ['[aria-invalid="true"]', '[role="alert"]'].map((one) => form.current?.querySelector(one))
    wrong.find(Boolean)?.scrollIntoView({ block: 'center' })
  }, [send.error])
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault()
        send.mutate()
      }}
    >
      <Stack gap="md">
        <ErrorNotice error={send.error} />
        <FieldErrors value={send.error}>{children}</FieldErrors>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {controlsTexts.cancel}
          </Button>
          <Button type="submit" loading={send.isPending}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** As if it was typed there: React hears of it, and what is typed next follows. */
function append(field: HTMLElement | undefined, text: string): void {
  const isText = field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement
  // Fields for numbers have no selection.
  if (isText && field.selectionStart !== null) field.setSelectionRange(field.value.length, field.value.length)
  document.execCommand('insertText', false, text)
}

const HOLD_MS = 100

/** A menu whose item has opened the dialog gives the focus back to its button 10 ms after it closes, which may be behind this. */
function holdFocus(field: HTMLElement): () => void {
  const dialog = field.closest('[role="dialog"]')
  const back = ({ target }: FocusEvent) => {
    if (target instanceof Node && dialog?.contains(target) === false) field.focus({ preventScroll: true })
  }
  const end = () => document.removeEventListener('focusin', back)
  document.addEventListener('focusin', back)
  const timer = window.setTimeout(end, HOLD_MS)
  return () => {
    window.clearTimeout(timer)
    end()
  }
}

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

/** Where one begins to type: the field that the form names, or its first one. Undefined for a question without fields. */
function firstField(form: HTMLFormElement | null): HTMLElement | undefined {
  const named = form?.querySelector<HTMLElement>('[data-autofocus]')
  if (named) return named
  const fields = [...(form?.elements ?? [])].filter(isField)
  return fields.find(({ type }) => type !== 'radio' && type !== 'checkbox') ?? fields[0]
}

function isField(one: Element): one is Field {
  const isOne =
    one instanceof HTMLInputElement || one instanceof HTMLTextAreaElement || one instanceof HTMLSelectElement
  return isOne && !one.disabled && one.type !== 'hidden' && one.type !== 'file'
}

/** What was typed before the form came. */
const EarlyKeys = createContext<RefObject<string>>({ current: '' })

interface ReadFormProps<T> {
  /** Of the record; `new` for none yet, empty for no dialog. */
  readonly guid: string
  /** Without the guid. */
  readonly queryKey: readonly unknown[]
  readonly load: (guid: string, signal: AbortSignal) => Promise<T>
  readonly onClose: () => void
  /** A {@link FormDialog}. */
  readonly children: (record: T | undefined) => ReactNode
}

/** The dialog of a record that is read before it shows. What is typed meanwhile arrives in its first field, and runs no command. */
export function ReadForm<T>(props: ReadFormProps<T>) {
  const { guid, children } = props
  if (guid === '') return null
  return guid === 'new' ? children(undefined) : <Reading key={guid} {...props} />
}

function Reading<T>({ guid, queryKey, load, onClose, children }: ReadFormProps<T>) {
  const { data, error, refetch, isFetchedAfterMount } = useQuery({
    queryKey: [...queryKey, guid],
    queryFn: ({ signal }) => load(guid, signal),
    // A form of what was read before would begin again when the newer record comes, without what was typed.
    refetchOnMount: 'always',
  })
  const early = useRef('')
  const isReading = !isFetchedAfterMount || (data === undefined && error === null)
  useLayoutEffect(() => (isReading ? takeKeys(early, onClose) : undefined), [isReading, onClose])
  if (isReading) return null
  if (data === undefined)
    return (
      <Modal opened onClose={onClose} title={controlsTexts.couldNotLoad}>
        <ErrorNotice error={error} onRetry={refetch} />
      </Modal>
    )
  return <EarlyKeys value={early}>{children(data)}</EarlyKeys>
}

interface FetchedDialogProps {
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A dialog whose code is fetched when it first opens. What is typed meanwhile arrives in its first field, and runs no command. */
export function FetchedDialog({ onClose, children }: FetchedDialogProps) {
  const early = useRef('')
  return (
    <EarlyKeys value={early}>
      <Suspense fallback={<KeysTaken early={early} onClose={onClose} />}>{children}</Suspense>
    </EarlyKeys>
  )
}

interface KeysTakenProps {
  /** Without it they are dropped. */
  readonly early?: RefObject<string>
  readonly onClose: () => void
}

/** In the place of a dialog that is asked for and not there yet: what is typed is for it, and Escape closes it. */
export function KeysTaken({ early, onClose }: KeysTakenProps) {
  const dropped = useRef('')
  const close = useRef(onClose)
  useLayoutEffect(() => {
    close.current = onClose
  }, [onClose])
  useLayoutEffect(() => takeKeys(early ?? dropped, () => close.current()), [early])
  return null
}

/** In the place of shortcuts, and of the field that is to come. Gives what ends it. */
function takeKeys(early: RefObject<string>, close: () => void): () => void {
  const take = (event: KeyboardEvent) => {
    const { key, ctrlKey, metaKey, target } = event
    const isElsewhere = target instanceof Element && target.matches('input, textarea, select')
    if (event.isComposing || ctrlKey || metaKey || isElsewhere) return
    if (key === 'Escape') close()
    else if (key === 'Backspace') early.current = early.current.slice(0, -1)
    else if ([...key].length === 1) early.current += key
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  window.addEventListener('keydown', take, { capture: true })
  return () => window.removeEventListener('keydown', take, { capture: true })
}

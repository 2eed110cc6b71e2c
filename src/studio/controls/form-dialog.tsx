import { Button, Group, Modal, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useLayoutEffect, useRef } from 'react'
import { controlsTexts } from '../texts/controls.ts'
import { FieldErrors } from './field-errors.tsx'
import { ErrorNotice } from './states.tsx'

/** Given by a submit that asks for more before it does what the button says. */
export const stayOpen = Symbol()

interface FormDialogProps {
  readonly opened: boolean
  readonly onClose: () => void
  readonly title: string
  /** The verb on the button. */
  readonly action: string
  /** What the button does; the dialog closes when it is done, unless it gives {@link stayOpen}, and says why when it failed. */
  readonly submit: () => Promise<unknown>
  readonly size?: string
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

function Form({ submit, onClose, action, children }: FormDialogProps) {
  const send = useMutation({
    mutationFn: submit,
    onSuccess: (done) => {
      if (done !== stayOpen) onClose()
    },
  })
  const form = useRef<HTMLFormElement>(null)
  useLayoutEffect(() => {
    const field = firstField(form.current)
    // For the timer of the dialog, which would move the focus on to its first button.
    field?.setAttribute('data-autofocus', 'true')
    field?.focus({ preventScroll: true })
    return field && holdFocus(field)
  }, [])
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

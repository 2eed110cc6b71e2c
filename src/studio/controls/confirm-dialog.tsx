import { Button, Code, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useStore } from 'zustand'
import { controlsTexts } from '../texts/shell.ts'
import { type Question, question } from './confirm.ts'
import { useDialogRequest } from './hooks.ts'
import { ErrorNotice } from './states.tsx'

/** Drawers and dialogs have 200, and open later in the document. */
const ABOVE_DRAWERS = 300

/** The one dialog of {@link confirm}; stands in the shell. */
export function ConfirmDialog() {
  const open = useStore(question, (state) => state.open)
  const close = () => question.setState({ open: undefined })
  return (
    <Modal opened={open !== undefined} onClose={close} title={open?.title} zIndex={ABOVE_DRAWERS}>
      {open === undefined ? null : <Ask question={open} onClose={close} />}
    </Modal>
  )
}

function TypeFirst({ text }: { readonly text: string }) {
  return (
    <>
      {controlsTexts.typeBefore} <Code>{text}</Code> {controlsTexts.typeAfter}
    </>
  )
}

function Ask({
  question: { title, text, action, type, isHarmless, run },
  onClose,
}: {
  question: Question
  onClose: () => void
}) {
  const [typed, setTyped] = useState('')
  const failed = controlsTexts.notDone(title)
  const sending = useDialogRequest({ failed, opened: true, onClose, send: async () => run() })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        sending.mutate()
      }}
    >
      <Stack gap="md">
        <Text size="sm">{text}</Text>
        {type === undefined ? null : (
          <TextInput
            label={<TypeFirst text={type} />}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
            data-autofocus
          />
        )}
        <ErrorNotice error={sending.error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {controlsTexts.cancel}
          </Button>
          <Button
            type="submit"
            {...(isHarmless ? {} : { color: 'red' })}
            loading={sending.isPending}
            disabled={type !== undefined && typed !== type}
            data-autofocus={type === undefined || undefined}
          >
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

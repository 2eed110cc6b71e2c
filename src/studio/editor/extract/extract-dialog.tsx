import { Modal, Text } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { LoadingScreen } from '../../controls/states.tsx'
import { extractTexts } from '../../texts/canvas.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'

/** Fetched when it is first opened: few extract functions. The dialog around it is there before, so that it knows where the focus was. */
const ExtractForm = lazy(async () => ({ default: (await import('./extract-form.tsx')).ExtractForm }))

/** Makes the selected blocks a custom function, or says why that cannot be. */
export function ExtractDialog() {
  const editor = useEditor()
  const isOpen = useEditorState(({ dialog }) => dialog?.kind === 'extract')
  return (
    <Modal
      opened={isOpen}
      onClose={() => editor.set({ dialog: undefined })}
      title={
        <Text fw={650} size="sm">
          {extractTexts.extractToAFunction}
        </Text>
      }
      size={460}
      yOffset="12vh"
      centered={false}
    >
      {isOpen ? (
        <Suspense fallback={<LoadingScreen />}>
          <ExtractForm />
        </Suspense>
      ) : null}
    </Modal>
  )
}

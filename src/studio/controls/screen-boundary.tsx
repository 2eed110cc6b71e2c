import { Alert, Button, Code, Stack, Text } from '@mantine/core'
import { Component, type ReactNode } from 'react'
import { controlsTexts } from '../texts/controls.ts'

interface State {
  readonly error: Error | undefined
}

/** Keeps a screen that broke to itself. React has error boundaries only as classes. */
export class ScreenBoundary extends Component<{ readonly children: ReactNode }, State> {
  override state: State = { error: undefined }

  static getDerivedStateFromError(error: unknown): State {
    return { error: error instanceof Error ? error : new Error(String(error)) }
  }

  override componentDidCatch(error: unknown): void {
    reportError(error)
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return (
      <Alert color="red" title={controlsTexts.screenFailed}>
        <Stack gap="sm" align="flex-start">
          <Text size="sm">
            {isOldFile(error) ? controlsTexts.updatedMeanwhile : controlsTexts.studioFault}
          </Text>
          <Code block>{error.message}</Code>
          <Button size="xs" onClick={() => location.reload()}>
            {controlsTexts.reload}
          </Button>
        </Stack>
      </Alert>
    )
  }
}

/** After an update the files that an open page still asks for are gone. */
function isOldFile(error: Error): boolean {
  return /dynamically imported module|Importing a module script failed/i.test(error.message)
}

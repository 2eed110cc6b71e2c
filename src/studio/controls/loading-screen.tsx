import { Skeleton, Stack } from '@mantine/core'
import { controlsTexts } from '../texts/controls.ts'

/** Takes about the room that a screen takes, so that nothing jumps when it comes. */
export function LoadingScreen() {
  return (
    <Stack role="status" aria-label={controlsTexts.loading} gap="md">
      <Skeleton height={30} width={220} />
      <Skeleton height={36} />
      <Skeleton height={320} />
    </Stack>
  )
}

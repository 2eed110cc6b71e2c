import { Progress, Text } from '@mantine/core'
import { transferTexts } from '../../../texts/documents.ts'

/** How much of a file the server has, from 0 to 1; nothing while none is sent. */
export function Sending({ share }: { readonly share: number | undefined }) {
  if (share === undefined) return null
  return (
    <div>
      <Progress value={share * 100} animated={share === 1} aria-label={transferTexts.importing} />
      <Text size="xs" c="dimmed" role="status">
        {transferTexts.sent(share, Math.round(share * 100))}
      </Text>
    </div>
  )
}

import { notifications } from '@mantine/notifications'
import { canvasTexts } from '../../texts/canvas.ts'

/** Says why a wire was not drawn. It goes by itself: nothing is broken. */
export function tellRefused(why: string): void {
  notifications.show({
    title: canvasTexts.wireRefused,
    message: why,
    color: 'sand',
    autoClose: 6_000,
    role: 'alert',
  })
}

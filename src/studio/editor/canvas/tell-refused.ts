import { notifications } from '@mantine/notifications'

/** Says why a wire was not drawn. It goes by itself: nothing is broken. */
export function tellRefused(why: string): void {
  notifications.show({
    title: 'This wire is not possible',
    message: why,
    color: 'sand',
    autoClose: 6_000,
    role: 'alert',
  })
}

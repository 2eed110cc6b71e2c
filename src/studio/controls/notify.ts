import { notifications } from '@mantine/notifications'
import type { ReactNode } from 'react'
import { messageOf } from '../api/api-error.ts'

/** A short word that something was done. Screen readers are told. */
export function notifyDone(message: ReactNode, milliseconds = 3_000): void {
  notifications.show({ message, color: 'petrol', autoClose: milliseconds })
}

/** What should be known of something that was done; it stays until it is read. */
export function notifyAbout(title: string, message: string): void {
  notifications.show({ title, message, color: 'sand', autoClose: false })
}

/** What could not be done and why; it stays until it is read. */
export function notifyFailed(title: string, error: unknown): void {
  notifications.show({
    title,
    message: messageOf(error),
    color: 'red',
    autoClose: false,
    role: 'alert',
  })
}

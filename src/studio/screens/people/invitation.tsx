import { Button } from '@mantine/core'
import type { User } from '../../../shared/api/users.ts'
import { forgetPeople } from '../../api/people.ts'
import { call } from '../../api/request.ts'
import { confirm } from '../../controls/confirm.ts'
import { notifyDone, notifyFailed } from '../../controls/notify.ts'

/** Of a user who has set no password yet: sends another link, or ends the links. */
export function Invitation({ user }: { readonly user: User }) {
  if (!user.invited_until) return null
  return (
    <>
      <Button variant="default" onClick={() => void inviteAgain(user)}>
        Invite again
      </Button>
      <Button variant="default" onClick={() => askToWithdraw(user)}>
        Withdraw
      </Button>
    </>
  )
}

async function inviteAgain({ _meta, email }: User): Promise<void> {
  try {
    await call('POST', `/users/${_meta.guid}/invitation`)
    notifyDone(`${email} gets a mail`)
    await forgetPeople()
  } catch (error) {
    notifyFailed('The invitation could not be sent', error)
  }
}

function askToWithdraw({ _meta, username }: User): void {
  confirm({
    title: `Withdraw the invitation of ${username}?`,
    text: 'The link in the mail stops working. The user stays, without a password.',
    action: 'Withdraw',
    run: async () => {
      await call('DELETE', `/users/${_meta.guid}/invitation`)
      await forgetPeople()
    },
  })
}

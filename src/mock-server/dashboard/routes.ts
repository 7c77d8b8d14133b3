import * as actions from './actions.ts';
import { type AccountRequest, type DashboardReply, type DashboardRequest, redirect } from './dashboard-request.ts';

interface DashboardRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly answer: (request: DashboardRequest) => DashboardReply;
}

export const dashboardRoutes: readonly DashboardRoute[] = [
  { method: 'GET', path: '/dashboard', answer: actions.home },
  { method: 'POST', path: '/dashboard/sign-up', answer: actions.signUp },
  { method: 'POST', path: '/dashboard/sign-in', answer: actions.signIn },
  { method: 'POST', path: '/dashboard/sign-out', answer: actions.signOut },
  { method: 'GET', path: '/dashboard/confirm', answer: actions.confirmEmail },
  { method: 'GET', path: '/dashboard/check-email', answer: signedIn(actions.checkMail) },
  { method: 'POST', path: '/dashboard/send-again', answer: signedIn(actions.sendAgain) },
  { method: 'POST', path: '/dashboard/keys', answer: signedIn(actions.createKey) },
  { method: 'GET', path: '/dashboard/keys/{id}', answer: signedIn(actions.showKey) },
  { method: 'POST', path: '/dashboard/keys/{id}/revoke', answer: signedIn(actions.revokeKey) },
  { method: 'POST', path: '/dashboard/plan', answer: signedIn(actions.changePlan) },
];

/** Visitors without an account are led to the sign-up. */
function signedIn(answer: (request: AccountRequest) => DashboardReply): (request: DashboardRequest) => DashboardReply {
  return (request) => {
    const { account } = request.session;
    return account === undefined ? redirect('/dashboard') : answer({ ...request, account });
  };
}

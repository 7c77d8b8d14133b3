/** A message of the client, which advises those who write programs to set an option of its own that no command has. */
export function withoutAdvice(message: string): string {
  return message.replace(/; [^;]*\bset retryAfterUnit\b.*$/, '');
}

// Generated from the OpenAPI document by `npm run api-types`.

export interface paths {
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check the service’s health
         * @description Answers 503 with the status `degraded` if a check fails. The call creates nothing and isn’t counted.
         */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/register": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create an account
         * @description Also signs in: the response contains a session token and sets the session cookie.
         */
        post: operations["register"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign in
         * @description Starts a new session. If the request carries a session, that session ends. With two-factor authentication, the answer is the error `two_factor_required`, whose details have the challenge for `POST /api/login/two-factor`.
         */
        post: operations["login"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign out
         * @description Ends the session that the request carries. With an API key, nothing ends. A session over its rate limit can still be ended.
         */
        post: operations["logout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/account": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the account */
        get: operations["getAccount"];
        put?: never;
        post?: never;
        /**
         * Delete the account
         * @description Every session ends, API keys are refused, and the subscription is canceled at once. Everything of the account is erased after seven days. Signing in before then keeps the account, but its subscription stays canceled.
         */
        delete: operations["eraseAccount"];
        options?: never;
        head?: never;
        /** Update the account */
        patch: operations["patchAccount"];
        trace?: never;
    };
    "/api/audit-log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List who did what
         * @description Lists what was changed in the account, and who revealed a secret, newest first. Entries are kept for a year. A page with an `action` can be short, or empty, while `next_cursor` leads on.
         */
        get: operations["listAuditLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/change-password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change the password
         * @description Every other session ends.
         */
        post: operations["changePassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/forgot-password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask for an email to reset the password
         * @description The response is the same whether an account has the email address or not. The link in the email works once, for an hour.
         */
        post: operations["forgotPassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/reset-password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set a new password with the token of an email
         * @description Every session ends, and a new one starts, as with `POST /api/login`.
         */
        post: operations["resetPassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/verify-email": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Confirm an email address with the token of an email
         * @description After a change of the email address, the new address takes effect with this call.
         */
        post: operations["verifyEmail"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/resend-verification": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send the verification email again
         * @description Sends nothing if the email address is already verified. At most five times an hour.
         */
        post: operations["resendVerification"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/change-email": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change the email address
         * @description The new address takes effect once it is confirmed with the token of the email that it gets. The present address gets an email, too. At most five times an hour.
         */
        post: operations["changeEmail"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/erase-customer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Erase a customer
         * @description Removes a person from licenses, their history, events, and the names of machines, permanently. The licenses go on working, with `erased@customer.invalid` as the email address. Deliveries that are still pending are sent without the address. A repeat counts only what was left.
         */
        post: operations["eraseCustomer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the sessions */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        /**
         * End all other sessions
         * @description With an API key, all sessions end.
         */
        delete: operations["endOtherSessions"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** End a session */
        delete: operations["endSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/login/two-factor": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign in with a code
         * @description Completes a login that has answered `two_factor_required`. A challenge takes five codes within ten minutes. A code works once.
         */
        post: operations["loginTwoFactor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/two-factor": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set up two-factor authentication
         * @description Returns a secret for an authenticator app. Nothing changes until a code confirms it.
         */
        post: operations["startTwoFactor"];
        /** Turn two-factor authentication off */
        delete: operations["disableTwoFactor"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/two-factor/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Turn two-factor authentication on
         * @description From then on, a login also requires a code.
         */
        post: operations["confirmTwoFactor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/regions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get calls and latency by region
         * @description Verifies are answered in the account’s home region and, near callers far from it, by branches, which open when a region keeps calling and close when it stops.
         */
        get: operations["getRegions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/home-region": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Move the account to another home region
         * @description The account moves in the background, usually within seconds. No call is refused meanwhile. If the new region can’t be reached for an hour, the account stays where it is. Only a session can move the account, and at most once in 24 hours.
         */
        post: operations["moveHome"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List API keys
         * @description Lists API keys, newest first. Keys are masked.
         */
        get: operations["listApiKeys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/create-api-key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create an API key */
        post: operations["createApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/api-keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reveal an API key */
        get: operations["revealApiKey"];
        put?: never;
        post?: never;
        /**
         * Delete an API key
         * @description Deletes the key permanently. Every call that starts after the response refuses it.
         */
        delete: operations["deleteApiKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/api-keys/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate an API key
         * @description Creates a key with the same name, scope, and allowed addresses, which does not expire. The old key expires after the overlap, or earlier if it was to expire earlier.
         */
        post: operations["rotateApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/dashboard": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the dashboard’s data */
        get: operations["getDashboard"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/developer-progress": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the first steps */
        get: operations["getDeveloperProgress"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/onboarding": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get code snippets and the next step
         * @description Returns snippets that verify a license. Replace `YOUR_API_KEY` in a snippet with an API key to run it.
         */
        get: operations["getOnboarding"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/billing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get plan, subscription, and payments */
        get: operations["getBilling"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/init-payment": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a payment for a plan
         * @description Starts a checkout. Open `checkout_url` in the account holder’s browser. A new checkout replaces an earlier one that was not paid. If two are started at the same time, one stays payable, and the other request can get `invalid_transition`.
         */
        post: operations["initPayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/cancel-subscription": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel the subscription */
        post: operations["cancelSubscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/billing/stripe": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive a notification from stripe
         * @description Called by the payment provider, which signs the request. Repeated, late, and unknown notifications get the same response.
         */
        post: operations["stripeNotification"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/billing/sandbox": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive a notification from sandbox
         * @description Called by the payment provider, which signs the request. Repeated, late, and unknown notifications get the same response.
         */
        post: operations["sandboxNotification"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List webhooks */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Add a webhook
         * @description Adds an endpoint that receives events. The URL must use https and name a public host.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a webhook and its secret */
        get: operations["revealWebhook"];
        put?: never;
        post?: never;
        /**
         * Delete a webhook
         * @description Deletes the webhook and its deliveries.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        /** Update a webhook */
        patch: operations["patchWebhook"];
        trace?: never;
    };
    "/api/webhooks/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate a webhook’s secret
         * @description Returns a new signing secret. Each earlier secret signs for 24 hours from the rotation that replaced it.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test event
         * @description Sends a `webhook.test` event to this webhook only.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deliveries
         * @description Lists deliveries with their attempts, newest first.
         */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks/{id}/deliveries/{delivery_id}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resend a delivery
         * @description Makes the delivery due immediately, with the same `webhook-id` and the full retry schedule.
         */
        post: operations["resendDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Listen for events
         * @description Returns the account’s events in the order in which they arrived, without a webhook. Call it without a cursor first, and then in a loop with the last `next_cursor`: no event is left out. A cursor expires after four minutes without a call. While a client listens, `license.verified` events are created even if no webhook subscribes to them.
         */
        get: operations["listenForEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export everything
         * @description Streams the account’s data without secrets, a line of JSON for each thing. A file without the last line, whose type is `end`, was cut off. What exists during the whole export is in it once, and a change that is made meanwhile may or may not be in it.
         */
        get: operations["exportAccount"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/licenses/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verify a license
         * @description Returns whether a license key is valid. An unknown license key is not an error: its status is `not_found`. Renews the machine’s lease, and takes back the machine’s own lapsed seat if a seat is free. A call with nothing but a license key, for a license without terms, is answered with the first five fields only. Counts as one licensing call. Web pages of any origin can call this endpoint.
         */
        post: operations["verifyLicense"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/licenses/activate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Activate a license on a machine
         * @description Verifies the license, and takes a seat for the machine if it has none. The same fingerprint always has the same seat. Counts as one licensing call. Web pages of any origin can call this endpoint.
         */
        post: operations["activateLicense"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/licenses/heartbeat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renew a machine’s lease
         * @description Renews the lease of the machine’s seat, and no more. Answers `verify_due` once the machine’s last counted call is more than 24 hours ago. Counts nothing. Web pages of any origin can call this endpoint.
         */
        post: operations["sendHeartbeat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/licenses/deactivate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Release a machine’s seat
         * @description Releases the machine’s seat. Without a seat, the answer is the same. Works whatever the state of the license and the usage limit. Counts nothing. Web pages of any origin can call this endpoint.
         */
        post: operations["deactivateLicense"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/licenses/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import licenses
         * @description Creates or updates licenses from lines of JSON, or from a CSV file with the same fields as columns and `metadata.<name>` for an entry of the metadata. A line has the fields of a create, and `status`, `created_at`, and past dates. The lines of an export are accepted as well: products, licenses, and machines are imported, webhooks are added without being enabled, and other lines are skipped. The answer has a line for each input line, and a last line with the totals. A line that fails changes nothing. The same file can be sent again, for example after an answer without totals, and ends in the same state. Imports don’t count as API usage.
         */
        post: operations["importLicenses"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/licenses/create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a license
         * @description Counts as one licensing call if it is made with an API key and creates a new license.
         */
        post: operations["createLicense"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/licenses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List and search licenses
         * @description Lists licenses, newest first. With `status=expired` they are sorted by expiration date, latest first.
         */
        get: operations["listLicenses"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/licenses/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a license */
        get: operations["getLicense"];
        put?: never;
        post?: never;
        /**
         * Delete a license
         * @description Deletes the license with its history and its activations, permanently. To end a license and keep its history, revoke it.
         */
        delete: operations["deleteLicense"];
        options?: never;
        head?: never;
        /** Update a license */
        patch: operations["patchLicense"];
        trace?: never;
    };
    "/api/v1/licenses/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a license’s history
         * @description Lists the latest 200 changes to a license, newest first. The last entry is its creation. Expiring is not a change.
         */
        get: operations["getLicenseHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/licenses/{id}/rotate-key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace a license’s key
         * @description Gives the license another key, which it returns. The old key is `not_found` from the response on. Seats stay.
         */
        post: operations["rotateLicenseKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/licenses/{id}/renew": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renew a license
         * @description Sets a new last day with `expires_at`, or extends the license by `duration_days`. Days count from the license’s last day, or from today if that day has passed or the license is perpetual.
         */
        post: operations["renewLicense"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/licenses/{id}/suspend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Suspend a license
         * @description Every verify that starts after the response sees the new state.
         */
        post: operations["suspendLicense"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/licenses/{id}/reinstate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reinstate a suspended license
         * @description Every verify that starts after the response sees the new state.
         */
        post: operations["reinstateLicense"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/licenses/{id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke a license permanently
         * @description Every verify that starts after the response sees the new state.
         */
        post: operations["revokeLicense"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/licenses/{id}/activations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the machines that hold a license’s seats
         * @description Lists live activations, newest first.
         */
        get: operations["listActivations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/licenses/{id}/seat-history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List when a license’s seats were taken and released
         * @description Lists the latest 200 changes, newest first. The end of a lease is not a change, because the machine may return.
         */
        get: operations["listSeatHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/licenses/{id}/activations/{activation_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Release a machine’s seat
         * @description The seat is free from the response on. A seat that an offline file holds needs `force`.
         */
        delete: operations["releaseActivation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/licenses/{id}/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Issue an offline file
         * @description Returns a token for a machine without a network. Takes the seat that the machine needs, and holds it until the token ends: a file can’t be called back.
         */
        post: operations["issueOfflineToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/products": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List products
         * @description Lists products by their code.
         */
        get: operations["listProducts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/products/{code}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a product */
        get: operations["getProduct"];
        /**
         * Create or replace a product
         * @description Replaces the whole product: a field that the body doesn’t have becomes empty. Licenses that name the product have its terms from the response on.
         */
        put: operations["putProduct"];
        post?: never;
        /**
         * Delete a product
         * @description Fails while a license names the product.
         */
        delete: operations["deleteProduct"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jwks/{account_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the public keys that check an account’s tokens
         * @description The current key and the retired ones, as a JSON Web Key Set. Any well-formed account id has keys. Web pages of any origin can call this endpoint.
         */
        get: operations["getKeySet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Account: {
            /** @example acct_0VJ1mKq7XbT2c9LpQwZa */
            id: string;
            email: string;
            email_verified: boolean;
            name: string | null;
            /** @enum {string} */
            plan: "free" | "pro" | "scale";
            /** @description Where verifies of this account are answered. Null if the account has no chosen region. */
            home_region: ("wnam" | "enam" | "weur" | "eeur" | "apac-ne" | "apac-se" | "oc") | null;
            /** Format: date-time */
            created_at: string;
        };
        AccountDetails: {
            /** @example acct_0VJ1mKq7XbT2c9LpQwZa */
            id: string;
            email: string;
            email_verified: boolean;
            name: string | null;
            /** @enum {string} */
            plan: "free" | "pro" | "scale";
            /** @description Where verifies of this account are answered. Null if the account has no chosen region. */
            home_region: ("wnam" | "enam" | "weur" | "eeur" | "apac-ne" | "apac-se" | "oc") | null;
            /** Format: date-time */
            created_at: string;
            /** @description The email address that becomes the account’s once it is confirmed. */
            pending_email: string | null;
            /** @description Whether a login also requires a code. */
            two_factor: boolean;
            /** @description The region to which the account is moving, or null. */
            moving_to: ("wnam" | "enam" | "weur" | "eeur" | "apac-ne" | "apac-se" | "oc") | null;
            /** @description The other regions that answer verifies now, near the callers there. They open and close by themselves. */
            branches: components["schemas"]["Branch"][];
        };
        Activation: {
            id: string;
            name: string | null;
            platform: string | null;
            fingerprint: string;
            app_version: string | null;
            /** Format: date-time */
            activated_at: string;
            /** Format: date-time */
            last_seen_at: string;
            lease_until: string | null;
        };
        ActivationList: {
            data: components["schemas"]["Activation"][];
            /** @description The cursor of the next page, or null on the last page. */
            next_cursor: string | null;
            seats: {
                used: number;
                limit: number;
            } | null;
        };
        ApiKey: {
            /** @example key_0VJ1mKq7XbT2c9LpQwZa */
            id: string;
            name: string | null;
            /** @enum {string} */
            scope: "full" | "verify";
            /** @example lk_live_0VJ1********Xk2d */
            masked_key: string;
            /** Format: date-time */
            created_at: string;
            last_used_at: string | null;
            expires_at: string | null;
            allowed_ips: string[] | null;
        };
        ApiKeyList: {
            data: components["schemas"]["ApiKey"][];
            /** @description The cursor of the next page, or null on the last page. */
            next_cursor: string | null;
        };
        ApplicationCall: {
            /** @example 7K3QD-9WZXA-M2RTB-H5NVE-40GPC */
            license_key: string;
            fingerprint?: string | null;
            /** @description The product that the application belongs to. Licenses of another product are refused. */
            product?: string | null;
            /** @description The machine’s name, for the seller and the customer to recognize it. */
            name?: string | null;
            platform?: string | null;
            app_version?: string | null;
            /** @description When the application’s version was released. Refused if it is after `updates_until`. */
            release_date?: string | null;
            /** @description Comes back in the token, which proves that it is fresh. */
            nonce?: string | null;
            /** @description Asks for a lease other than the terms’, up to the longer of their lease and `offline_days`. Ignored without a lease. */
            lease_seconds?: number | null;
            /** @description The activation whose seat this machine takes over. Ignored without `self_service`, and by a machine that holds a seat. */
            replace?: string | null;
        };
        ApplicationVerdict: {
            /** @description True exactly when `code` is `valid`. */
            valid: boolean;
            /** @enum {string} */
            status: "active" | "expired" | "suspended" | "revoked" | "not_found";
            expires_at: string | null;
            /** @description The account’s licensing calls in this period, including this call. */
            api_usage: number;
            api_limit: number;
            /** @enum {string} */
            code: "not_found" | "revoked" | "suspended" | "expired" | "wrong_product" | "updates_ended" | "fingerprint_required" | "verify_due" | "not_activated" | "no_seat" | "transfer_limit" | "deactivated" | "valid";
            license_id: string | null;
            product: string | null;
            entitlements: {
                [key: string]: string | number | boolean;
            };
            updates_until: string | null;
            /** Format: date-time */
            server_time: string;
            /** @description The seat that this machine holds. */
            activation: {
                id: string;
                name: string | null;
                platform: string | null;
                /** Format: date-time */
                activated_at: string;
                lease_until: string | null;
            } | null;
            /** @description Null if the number of seats isn’t limited. */
            seats: {
                used: number;
                limit: number;
            } | null;
            /** @description When a seat may become free. Null unless waiting helps. */
            retry_at: string | null;
            /** @description The machines that hold the seats, with `no_seat` and `self_service`. */
            machines: {
                id: string;
                name: string | null;
                platform: string | null;
                /** Format: date-time */
                last_seen_at: string;
            }[] | null;
            /** @description A signed token with the answer, see `/api/v1/jwks`. */
            token: string | null;
        };
        AuditEntry: {
            id: string;
            /** Format: date-time */
            at: string;
            /** @enum {string} */
            action: "register" | "login" | "logout" | "password.change" | "password.reset" | "email.verify" | "email.request_change" | "email.change" | "session.end" | "two_factor.enable" | "two_factor.disable" | "recovery_code.use" | "account.update" | "account.move" | "account.export" | "account.erase" | "account.restore" | "account.suspend" | "account.reinstate" | "account.backup" | "account.recover" | "api_key.create" | "api_key.reveal" | "api_key.rotate" | "api_key.delete" | "license.create" | "license.update" | "license.suspend" | "license.reinstate" | "license.revoke" | "license.renew" | "license.rotate_key" | "license.import" | "license.delete" | "activation.release" | "offline_file.issue" | "customer.erase" | "product.put" | "product.delete" | "webhook.create" | "webhook.reveal" | "webhook.update" | "webhook.rotate_secret" | "webhook.test" | "webhook.resend" | "webhook.delete" | "checkout.start" | "payment.receive" | "payment.fail" | "subscription.renew" | "subscription.cancel" | "subscription.end" | "plan.change" | "plan.grant" | "accounts.search" | "secrets.reseal";
            /** @description Who did it, with the id of the session or API key. `system` is the service. */
            actor: {
                /** @enum {string} */
                kind: "session" | "api_key" | "operator" | "system";
                id: string | null;
            };
            /** @description The id of what was changed, or the code of a product. Null if it is the account. */
            target: string | null;
            /** @description The caller’s IP address, if there was a caller. */
            ip: string | null;
            /** @description More about the action, such as the names of changed fields. */
            details: {
                [key: string]: (string | number | boolean | string[]) | null;
            };
        };
        AuditLog: {
            data: components["schemas"]["AuditEntry"][];
            /** @description The cursor of the next page, or null on the last page. */
            next_cursor: string | null;
        };
        Billing: {
            /** @enum {string} */
            plan: "free" | "pro" | "scale";
            subscription: {
                id: string;
                /** @enum {string} */
                plan: "pro" | "scale";
                /** @enum {string} */
                status: "active" | "past_due" | "cancelled";
                /** Format: date-time */
                period_start: string;
                /** Format: date-time */
                period_end: string;
                cancelled_at: string | null;
                ends_at: string | null;
            } | null;
            /** @description The latest 50 payments. */
            payments: {
                payment_id: string;
                /** @enum {string} */
                provider: "sandbox" | "stripe";
                /** @enum {string} */
                plan: "pro" | "scale";
                /** @enum {string} */
                status: "pending" | "paid" | "declined" | "replaced" | "expired";
                amount: number;
                currency: string;
                /** Format: date-time */
                created_at: string;
                paid_at: string | null;
            }[];
            /** @description The available plans. */
            plans: {
                /** @enum {string} */
                plan: "free" | "pro" | "scale";
                /** @description Licensing calls per period. */
                api_limit: number;
                /** @description Licenses that the account may hold, whatever their status. */
                license_limit: number;
                /** @description Calls per second for each API key. */
                calls_per_second: number;
                /** @description The price per month in minor units, such as cents. */
                amount: number;
                currency: string;
            }[];
        };
        /** @description A region that also answers verifies, near the callers there. */
        Branch: {
            /** @enum {string} */
            region: "wnam" | "enam" | "weur" | "eeur" | "apac-ne" | "apac-se" | "oc";
            /** Format: date-time */
            opened_at: string;
        };
        CancelSubscription: {
            /**
             * @description When to cancel. The paid limits apply until then.
             * @default period_end
             * @enum {string}
             */
            at: "period_end" | "now";
        };
        CancelledSubscription: {
            subscription: {
                id: string;
                /** @enum {string} */
                plan: "pro" | "scale";
                /** @constant */
                status: "cancelled";
                /** Format: date-time */
                cancelled_at: string;
                /** Format: date-time */
                ends_at: string;
            };
        };
        ChangeEmail: {
            /**
             * Format: email
             * @example ada@example.com
             */
            email: string;
            current_password: string;
        };
        ChangePassword: {
            current_password: string;
            password: string;
        };
        ConfirmTwoFactor: {
            /** @description A code of the authenticator app. */
            code: string;
        };
        CreateApiKey: {
            name?: string | null;
            /**
             * @description A key with scope `verify` can only verify licenses, so that it can ship inside an application.
             * @default full
             * @enum {string}
             */
            scope: "full" | "verify";
            /** @description The time from which the key is refused. By default, a key doesn’t expire. */
            expires_at?: string | null;
            /** @description IPv4 and IPv6 addresses and CIDR blocks. From other addresses, the key is refused. Only for keys with scope `full`. By default, a key can be used from everywhere. */
            allowed_ips?: string[] | null;
        };
        CreateLicense: {
            /** @description The customer’s email address. The default is the account’s own. */
            customer_email?: string | null;
            customer_name?: string | null;
            product?: string | null;
            /** @description The last day (UTC) on which the license is valid. A perpetual license has null. */
            expires_at?: string | null;
            duration_days?: number;
            /** @description Your own license key. By default, a key is generated. */
            license_key?: string;
            metadata?: {
                [key: string]: string | number | boolean;
            } | null;
            terms?: components["schemas"]["LicenseTermsInput"] | null;
            /** @description The last release date that the license covers. Null covers all releases. */
            updates_until?: string | null;
        };
        CreateWebhook: {
            /**
             * Format: uri
             * @example https://example.com/hooks/latchkey
             */
            url: string;
            events?: ("payment.success" | "subscription.cancelled" | "license.created" | "license.verified" | "activation.created" | "activation.released" | "activation.refused" | "usage.threshold")[] | null;
            description?: string | null;
        };
        Dashboard: {
            account: components["schemas"]["AccountDetails"];
            usage: {
                api_usage: number;
                api_limit: number;
                /** Format: date-time */
                period_start: string;
                /** Format: date-time */
                period_end: string;
            };
            /** @description Calls per day over the last 30 days (UTC). The last entry is today. */
            usage_by_day: {
                /** Format: date */
                date: string;
                verify: number;
                create: number;
            }[];
            /** @description Calls of applications (verify and activate) in this period: the ten products with the most calls. Absent if the account has no products. */
            usage_by_product?: {
                product: string;
                name: string | null;
                calls: number;
            }[];
            licenses: {
                total: number;
                active: number;
                expired: number;
                suspended: number;
                revoked: number;
            };
            api_keys: {
                total: number;
            };
            /** @description The number of endpoints, and of successful and failed attempts in the last 24 hours. */
            webhooks: {
                endpoints: number;
                delivered_24h: number;
                failed_24h: number;
            };
            /** @description The latest ten events. */
            recent_events: {
                id: string;
                /** @enum {string} */
                event: "payment.success" | "subscription.cancelled" | "license.created" | "license.verified" | "activation.created" | "activation.released" | "activation.refused" | "usage.threshold" | "webhook.test";
                /** Format: date-time */
                created_at: string;
                payload: {
                    [key: string]: unknown;
                };
            }[];
        };
        DeletedActivation: {
            id: string;
            /** @constant */
            deleted: true;
        };
        DeletedApiKey: {
            id: string;
            /** @constant */
            deleted: true;
        };
        DeletedLicense: {
            id: string;
            /** @constant */
            deleted: true;
        };
        DeletedProduct: {
            code: string;
            /** @constant */
            deleted: true;
        };
        DeletedWebhook: {
            id: string;
            /** @constant */
            deleted: true;
        };
        Delivery: {
            /** @example dlv_0VJ1mKq7XbT2c9LpQwZa */
            id: string;
            /** @description The event’s id, sent as `webhook-id` with every attempt. */
            event_id: string;
            /** @enum {string} */
            event: "payment.success" | "subscription.cancelled" | "license.created" | "license.verified" | "activation.created" | "activation.released" | "activation.refused" | "usage.threshold" | "webhook.test";
            /** @enum {string} */
            status: "pending" | "delivered" | "failed";
            attempts: {
                /** Format: date-time */
                time: string;
                status_code: number | null;
                error: string | null;
                duration_ms: number;
                /** @description The first 2 KiB of the response. */
                response: string | null;
            }[];
            /** @description Why the delivery failed permanently, if its last attempt doesn’t say so. */
            error: string | null;
            next_attempt_at: string | null;
            /** @description The exact request body. */
            payload: string;
            /** Format: date-time */
            created_at: string;
        };
        DeliveryList: {
            data: components["schemas"]["Delivery"][];
            /** @description The cursor of the next page, or null on the last page. */
            next_cursor: string | null;
        };
        DeveloperProgress: {
            steps: {
                /** @enum {string} */
                id: "create_account" | "create_api_key" | "create_license" | "verify_license" | "add_webhook" | "choose_plan";
                title: string;
                done: boolean;
                done_at: string | null;
            }[];
            completed: number;
            total: number;
        };
        DisableTwoFactor: {
            current_password: string;
            /**
             * @description A code of the authenticator app, or a recovery code.
             * @example 492039
             */
            code: string;
        };
        EmailVerified: {
            email: string;
            /** @constant */
            email_verified: true;
        };
        EndedSession: {
            id: string;
            /** @constant */
            deleted: true;
        };
        EndedSessions: {
            /** @description How many sessions have ended. */
            ended: number;
        };
        EraseAccount: {
            current_password: string;
            /**
             * Format: email
             * @description The email address of the account.
             * @example ada@example.com
             */
            confirm: string;
        };
        EraseCustomer: {
            /**
             * Format: email
             * @description The email address of the customer, in any case.
             * @example ada@example.com
             */
            customer_email: string;
        };
        ErasedCustomer: {
            /** @description Licenses that the customer has, or had in the past. */
            licenses: number;
            /** @description Machines of these licenses, which have no name anymore. */
            activations: number;
            /** @description Events that named the customer. */
            events: number;
        };
        Erasure: {
            /**
             * Format: date-time
             * @description When everything of the account is erased. Signing in before then keeps the account.
             */
            erased_by: string;
        };
        Error: {
            error: {
                /** @enum {string} */
                code: "invalid_json" | "invalid_request" | "invalid_token" | "api_key_required" | "invalid_session" | "two_factor_required" | "invalid_credentials" | "api_key_invalid" | "insufficient_scope" | "origin_not_allowed" | "ip_not_allowed" | "https_required" | "account_suspended" | "license_limit_reached" | "api_key_not_found" | "license_not_found" | "webhook_not_found" | "product_not_found" | "activation_not_found" | "not_found" | "method_not_allowed" | "email_taken" | "license_key_taken" | "invalid_transition" | "idempotency_conflict" | "no_active_subscription" | "product_in_use" | "no_seat" | "body_too_large" | "unsupported_media_type" | "rate_limit_exceeded" | "usage_limit_exceeded" | "internal_error" | "unavailable";
                message: string;
                request_id: string;
                /** @description The invalid fields. Only present if the input was invalid. */
                details?: {
                    path: string;
                    message: string;
                }[];
            };
        };
        ExportLine: ({
            /** @enum {string} */
            type: "account" | "product" | "license" | "activation" | "api_key" | "webhook" | "payment" | "usage_day" | "license_change" | "audit";
        } & {
            [key: string]: unknown;
        }) | {
            /** @constant */
            type: "end";
            counts: {
                [key: string]: number;
            };
        };
        ForgotPassword: {
            /**
             * Format: email
             * @example ada@example.com
             */
            email: string;
        };
        Health: {
            /** @enum {string} */
            status: "ok" | "degraded";
            version: string;
            /** Format: date-time */
            time: string;
            /** @description The result of each check: `ok` or what is wrong. A service that can’t send email says `not_configured` for `mail`, which doesn’t make it degraded. */
            checks: {
                [key: string]: string;
            };
            /** @description Only in local runs: the path at which to read the emails that they don’t send. */
            mail_preview?: string;
        };
        HomeRegion: {
            /** @description The home region until the account has moved. */
            home_region: ("wnam" | "enam" | "weur" | "eeur" | "apac-ne" | "apac-se" | "oc") | null;
            /** @description The region to which the account is moving, or null. */
            moving_to: ("wnam" | "enam" | "weur" | "eeur" | "apac-ne" | "apac-se" | "oc") | null;
        };
        /** @description Lines of JSON, or a CSV file with a header. At most 5 MiB. */
        ImportFile: string;
        ImportResult: {
            /** @description The line’s number in the body, from 1. */
            line: number;
            /** @enum {string} */
            result: "created" | "updated" | "unchanged" | "skipped" | "failed";
            /** @description The id of the license. */
            id?: string;
            error?: {
                code: string;
                message: string;
                details?: {
                    path: string;
                    message: string;
                }[];
            };
        } | {
            /** @description The last line. Without it, the answer was cut off. */
            totals: {
                lines: number;
                created: number;
                updated: number;
                unchanged: number;
                skipped: number;
                failed: number;
            };
        };
        InitPayment: {
            /** @enum {string} */
            plan: "pro" | "scale";
            /** @description A URL on this service, or on one of the account’s `allowed_origins`. */
            success_url?: string;
            /** @description A URL on this service, or on one of the account’s `allowed_origins`. */
            cancel_url?: string;
        };
        KeySet: {
            keys: {
                /** @constant */
                kty: "OKP";
                /** @constant */
                crv: "Ed25519";
                x: string;
                /** @description The key’s RFC 7638 thumbprint. */
                kid: string;
                /** @constant */
                use: "sig";
            }[];
            /** @description For each newer key, oldest first: a JWS by the key before it, with type `latchkey+keys`, that names the newer key. */
            chain: string[];
        };
        License: {
            /** @example lic_0VJ1mKq7XbT2c9LpQwZa */
            id: string;
            license_key: string;
            /** @enum {string} */
            status: "active" | "expired" | "suspended" | "revoked";
            product: string | null;
            customer_email: string;
            customer_name: string | null;
            expires_at: string | null;
            metadata: {
                [key: string]: string | number | boolean;
            };
            terms: components["schemas"]["LicenseTerms"];
            updates_until: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        LicenseHistory: {
            data: components["schemas"]["LicenseHistoryEntry"][];
            /** @description The cursor of the next page, or null on the last page. */
            next_cursor: string | null;
        };
        LicenseHistoryEntry: {
            /**
             * @description What happened. `renewed` means that only `expires_at` changed.
             * @enum {string}
             */
            action: "created" | "changed" | "suspended" | "reinstated" | "revoked" | "renewed" | "key_rotated";
            /** Format: date-time */
            at: string;
            /** @description The changed fields. Empty for `created`. */
            changes: {
                /** @enum {string} */
                field: "status" | "expires_at" | "license_key" | "product" | "customer_email" | "customer_name" | "metadata" | "terms" | "updates_until";
                from: (string | components["schemas"]["LicenseTerms"] | {
                    [key: string]: string | number | boolean;
                }) | null;
                to: (string | components["schemas"]["LicenseTerms"] | {
                    [key: string]: string | number | boolean;
                }) | null;
            }[];
        };
        LicenseList: {
            data: components["schemas"]["License"][];
            /** @description The cursor of the next page, or null on the last page. */
            next_cursor: string | null;
        };
        /** @description The license’s own terms. It inherits absent fields from its product. */
        LicenseTerms: {
            max_activations?: number | "none";
            lease_seconds?: number | "none";
            offline_days?: number;
            max_transfers?: number | "none";
            self_service?: boolean;
            entitlements?: {
                [key: string]: string | number | boolean | null;
            };
        };
        LicenseTermsInput: {
            /** @description The number of seats: machines that may use a license at the same time. "none" lifts the product’s limit, and null inherits it. */
            max_activations?: (number | "none") | null;
            /** @description How long a seat is held after its machine’s last verify or heartbeat. Without it, a seat is held until it is released. "none" lifts the product’s limit, and null inherits it. */
            lease_seconds?: (number | "none") | null;
            /** @description For how many days a token is good without contact. The default is 14. */
            offline_days?: number | null;
            /** @description How many more machines than `max_activations` may hold a seat within 30 days. "none" lifts the product’s limit, and null inherits it. */
            max_transfers?: (number | "none") | null;
            /** @description Whether an application that finds no seat is told which machines hold the seats, and may replace one. The default is false. */
            self_service?: boolean | null;
            /** @description A flat object of strings, numbers, and booleans that applications receive. An entry that is null takes the product’s away. */
            entitlements?: {
                [key: string]: string | number | boolean | null;
            } | null;
        };
        LoggedOut: {
            /** @constant */
            logged_out: true;
        };
        Login: {
            email: string;
            password: string;
        };
        MailAccepted: {
            /** @constant */
            accepted: true;
        };
        MoveHome: {
            /**
             * @description Choose the region nearest to your application.
             * @enum {string}
             */
            region: "wnam" | "enam" | "weur" | "eeur" | "apac-ne" | "apac-se" | "oc";
        };
        NewEvents: {
            data: {
                /** @description The event’s id, which is the `webhook-id` of its deliveries. */
                id: string;
                /** @enum {string} */
                event: "payment.success" | "subscription.cancelled" | "license.created" | "license.verified" | "activation.created" | "activation.released" | "activation.refused" | "usage.threshold";
                /** @description The exact body of its deliveries. */
                payload: string;
                /** Format: date-time */
                created_at: string;
            }[];
            /** @description The cursor for the next call. It is never null. */
            next_cursor: string;
        };
        OfflineToken: {
            fingerprint?: string | null;
            /** @description The default is `offline_days`, unless that is 0. */
            days?: number | null;
        };
        OfflineTokenFile: {
            token: string;
            /** Format: date-time */
            expires_at: string;
        };
        Onboarding: {
            base_url: string;
            /** @description The newest API key, masked. */
            api_key: string | null;
            /** @description The first step that isn’t done, or null if all are done. */
            next_step: ("create_account" | "create_api_key" | "create_license" | "verify_license" | "add_webhook" | "choose_plan") | null;
            snippets: {
                curl: string;
                javascript: string;
                python: string;
            };
            /** @description The license key in the snippets: the newest license’s, or an example. */
            license_key: string;
            /** @description Stands for the API key in the snippets. */
            key_placeholder: string;
            webhook_events: string[];
        };
        PasswordChanged: {
            /** @constant */
            changed: true;
        };
        PatchAccount: {
            name?: string | null;
            /** @description Origins, besides this service, that a checkout may send the browser back to. */
            allowed_origins?: string[];
        };
        PatchLicense: {
            /**
             * Format: email
             * @example ada@example.com
             */
            customer_email?: string;
            customer_name?: string | null;
            product?: string | null;
            /** @description The last day (UTC) on which the license is valid. A perpetual license has null. */
            expires_at?: string | null;
            /** @description A flat object that replaces the existing metadata. */
            metadata?: {
                [key: string]: string | number | boolean;
            };
            /** @description Merged into the license’s terms, field by field. */
            terms?: components["schemas"]["LicenseTermsInput"];
            /** @description The last release date that the license covers. Null covers all releases. */
            updates_until?: string | null;
        };
        PatchWebhook: {
            /**
             * Format: uri
             * @example https://example.com/hooks/latchkey
             */
            url?: string;
            events?: ("payment.success" | "subscription.cancelled" | "license.created" | "license.verified" | "activation.created" | "activation.released" | "activation.refused" | "usage.threshold")[] | null;
            description?: string | null;
            /**
             * @description Disabling a webhook cancels its pending deliveries. They can be resent later.
             * @enum {string}
             */
            status?: "enabled" | "disabled";
        };
        Product: {
            /** @example orrery-pro */
            code: string;
            name: string | null;
            terms: components["schemas"]["ProductTerms"];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        ProductList: {
            data: components["schemas"]["Product"][];
            /** @description The cursor of the next page, or null on the last page. */
            next_cursor: string | null;
        };
        /** @description The terms that were set. An absent field has its default. */
        ProductTerms: {
            max_activations?: number;
            lease_seconds?: number;
            offline_days?: number;
            max_transfers?: number;
            self_service?: boolean;
            duration_days?: number;
            updates_days?: number;
            entitlements?: {
                [key: string]: string | number | boolean;
            };
        };
        ProductTermsInput: {
            /** @description The number of seats: machines that may use a license at the same time. */
            max_activations?: number | null;
            /** @description How long a seat is held after its machine’s last verify or heartbeat. Without it, a seat is held until it is released. */
            lease_seconds?: number | null;
            /** @description For how many days a token is good without contact. The default is 14. */
            offline_days?: number | null;
            /** @description How many more machines than `max_activations` may hold a seat within 30 days. */
            max_transfers?: number | null;
            /** @description Whether an application that finds no seat is told which machines hold the seats, and may replace one. The default is false. */
            self_service?: boolean | null;
            /** @description How long a new license lasts, unless its create says otherwise. */
            duration_days?: number | null;
            /** @description For how long a new license gets updates, unless its create says otherwise. */
            updates_days?: number | null;
            /** @description A flat object of strings, numbers, and booleans that applications receive. */
            entitlements?: {
                [key: string]: string | number | boolean;
            } | null;
        };
        PutProduct: {
            name?: string | null;
            terms?: components["schemas"]["ProductTermsInput"] | null;
        };
        Received: {
            /** @constant */
            received: true;
        };
        RecoveryCodes: {
            /** @description Each of them replaces a code of the authenticator app once. They are not shown again. */
            recovery_codes: string[];
        };
        Regions: {
            /** @description Whether this service answers verifies in more than one region, and counts calls by region. */
            enabled: boolean;
            /** @description Where the account’s data is. Null if Cloudflare has chosen the place. */
            home_region: ("wnam" | "enam" | "weur" | "eeur" | "apac-ne" | "apac-se" | "oc") | null;
            /** @description The region to which the account is moving, or null. */
            moving_to: ("wnam" | "enam" | "weur" | "eeur" | "apac-ne" | "apac-se" | "oc") | null;
            /** @description The other regions that answer verifies now. */
            branches: components["schemas"]["Branch"][];
            /** @description The figures cover this many days in UTC, including today. */
            days: number;
            /** @description Answered calls of applications by the region nearest to the caller, most calls first. Branches report theirs every minute or so. */
            regions: {
                /** @enum {string} */
                region: "wnam" | "enam" | "weur" | "eeur" | "apac-ne" | "apac-se" | "oc";
                calls: number;
                /** @description Milliseconds that Cloudflare’s data center near the caller waited for the answer, measured for some of the calls. Null without a measurement. */
                p50_ms: number | null;
                /** @description Milliseconds that Cloudflare’s data center near the caller waited for the answer, measured for some of the calls. Null without a measurement. */
                p95_ms: number | null;
                /** @description The calls by the region that answered. Null stands for a home without a region. */
                answered_by: {
                    region: ("wnam" | "enam" | "weur" | "eeur" | "apac-ne" | "apac-se" | "oc") | null;
                    calls: number;
                    /** @description Milliseconds that Cloudflare’s data center near the caller waited for the answer, measured for some of the calls. Null without a measurement. */
                    p50_ms: number | null;
                    /** @description Milliseconds that Cloudflare’s data center near the caller waited for the answer, measured for some of the calls. Null without a measurement. */
                    p95_ms: number | null;
                }[];
            }[];
        };
        Register: {
            /**
             * Format: email
             * @example ada@example.com
             */
            email: string;
            password: string;
            name?: string | null;
            /**
             * @description Where verifies of this account are answered. Choose the region nearest to your application. By default, the region nearest to this request.
             * @enum {string}
             */
            home_region?: "wnam" | "enam" | "weur" | "eeur" | "apac-ne" | "apac-se" | "oc";
        };
        RenewLicense: {
            /** @description The last day (UTC) on which the license is valid. A perpetual license has null. */
            expires_at?: string | null;
            duration_days?: number;
        };
        ResetPassword: {
            /** @description The token of the link in the email. */
            token: string;
            password: string;
        };
        RevealedApiKey: {
            /** @example key_0VJ1mKq7XbT2c9LpQwZa */
            id: string;
            name: string | null;
            /** @enum {string} */
            scope: "full" | "verify";
            /** @example lk_live_0VJ1********Xk2d */
            masked_key: string;
            /** Format: date-time */
            created_at: string;
            last_used_at: string | null;
            expires_at: string | null;
            allowed_ips: string[] | null;
            /** @description The complete API key. */
            api_key: string;
        };
        RevealedWebhook: {
            /** @example whe_0VJ1mKq7XbT2c9LpQwZa */
            id: string;
            url: string;
            description: string | null;
            events: ("payment.success" | "subscription.cancelled" | "license.created" | "license.verified" | "activation.created" | "activation.released" | "activation.refused" | "usage.threshold")[];
            /** @enum {string} */
            status: "enabled" | "disabled";
            /** @description Why the webhook is disabled: `by_you` if you disabled it, `gone` if it answered 410, `failing` if it only failed for five days. */
            disabled_reason: ("by_you" | "gone" | "failing") | null;
            /** @description The time of the first failure since the last success. */
            failing_since: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** @description The secret that signs requests to this webhook, according to Standard Webhooks. */
            secret: string;
            /** @description The time until which the previous secret signs as well. Each earlier secret signs for 24 hours after its rotation. */
            old_secret_expires_at: string | null;
        };
        RotateApiKey: {
            /**
             * @description How long the old key goes on working. With 0, it ends at once.
             * @default 24
             */
            overlap_hours: number;
        };
        RotateKey: {
            /** @description Your own license key. By default, a key is generated. */
            license_key?: string;
        };
        SeatChange: {
            /** @enum {string} */
            action: "taken" | "released";
            /** Format: date-time */
            at: string;
            /**
             * @description Who made the call: an application, or you.
             * @enum {string}
             */
            by: "application" | "seller";
            activation_id: string;
            fingerprint: string;
            name: string | null;
        };
        SeatHistory: {
            data: components["schemas"]["SeatChange"][];
            /** @description The cursor of the next page, or null on the last page. */
            next_cursor: string | null;
        };
        Session: {
            id: string;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description Brought up to date once an hour.
             */
            last_seen_at: string;
            ip: string | null;
            user_agent: string | null;
            /** @description Whether this session makes the call. */
            current: boolean;
        };
        Sessions: {
            data: components["schemas"]["Session"][];
        };
        SignedIn: {
            account: components["schemas"]["Account"];
            session: {
                /** @description The session token, for the header `Authorization: Bearer …`. Browsers also get it as a cookie. */
                token: string;
                /** Format: date-time */
                expires_at: string;
            };
        };
        StartedPayment: {
            /** @example pay_0VJ1mKq7XbT2c9LpQwZa */
            payment_id: string;
            /** @enum {string} */
            provider: "sandbox" | "stripe";
            /** @enum {string} */
            plan: "pro" | "scale";
            /** @description The amount in minor units, such as cents. */
            amount: number;
            currency: string;
            /** @constant */
            status: "pending";
            checkout_url: string;
        };
        TwoFactorLogin: {
            /** @description The challenge in the details of the login’s error. */
            challenge: string;
            /**
             * @description A code of the authenticator app, or a recovery code.
             * @example 492039
             */
            code: string;
        };
        TwoFactorOff: {
            /** @constant */
            two_factor: false;
        };
        TwoFactorSecret: {
            /** @description The secret in base32, to type into an authenticator app. */
            secret: string;
            /** @description The same as a URL, to show as a QR code. */
            otpauth_url: string;
        };
        Verdict: {
            valid: boolean;
            /** @enum {string} */
            status: "active" | "expired" | "suspended" | "revoked" | "not_found";
            expires_at: string | null;
            /** @description The account’s licensing calls in this period, including this call. */
            api_usage: number;
            api_limit: number;
        };
        Verify: {
            /** @example 7K3QD-9WZXA-M2RTB-H5NVE-40GPC */
            license_key: string;
        };
        VerifyAnswer: components["schemas"]["ApplicationVerdict"] | components["schemas"]["Verdict"];
        VerifyEmail: {
            /** @description The token of the link in the email. */
            token: string;
        };
        Webhook: {
            /** @example whe_0VJ1mKq7XbT2c9LpQwZa */
            id: string;
            url: string;
            description: string | null;
            events: ("payment.success" | "subscription.cancelled" | "license.created" | "license.verified" | "activation.created" | "activation.released" | "activation.refused" | "usage.threshold")[];
            /** @enum {string} */
            status: "enabled" | "disabled";
            /** @description Why the webhook is disabled: `by_you` if you disabled it, `gone` if it answered 410, `failing` if it only failed for five days. */
            disabled_reason: ("by_you" | "gone" | "failing") | null;
            /** @description The time of the first failure since the last success. */
            failing_since: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        WebhookList: {
            data: components["schemas"]["Webhook"][];
            /** @description The cursor of the next page, or null on the last page. */
            next_cursor: string | null;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description The id of this request in the logs. */
        "X-Request-Id": string;
        /** @description The rest of the rate limit: `r` calls now, and the full rate in `t` seconds. For a call with an API key, it is the limit of the key (`"key"`) or of all API keys of the account together (`"account"`), whichever is tighter. For a call with a session, it is the limit of all sessions of the account together (`"session"`). */
        RateLimit: string;
        /** @description The rate limit that `RateLimit` refers to: `q` calls in `w` seconds. */
        "RateLimit-Policy": string;
        /** @description The region that answered. Only where the service answers in more than one region, and not for an account without a home region. */
        "Latchkey-Region": "wnam" | "enam" | "weur" | "eeur" | "apac-ne" | "apac-se" | "oc";
        /** @description Seconds to wait before retrying. */
        "Retry-After": number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All checks passed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description A check failed. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    register: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Register"];
            };
        };
        responses: {
            /** @description The new account and its first session. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    login: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Login"];
            };
        };
        responses: {
            /** @description The account and a new session. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    logout: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session has ended. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoggedOut"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The account. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountDetails"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    eraseAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EraseAccount"];
            };
        };
        responses: {
            /** @description The account will be erased. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Erasure"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    patchAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PatchAccount"];
            };
        };
        responses: {
            /** @description The updated account. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountDetails"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listAuditLog: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                action?: "register" | "login" | "logout" | "password.change" | "password.reset" | "email.verify" | "email.request_change" | "email.change" | "session.end" | "two_factor.enable" | "two_factor.disable" | "recovery_code.use" | "account.update" | "account.move" | "account.export" | "account.erase" | "account.restore" | "account.suspend" | "account.reinstate" | "account.backup" | "account.recover" | "api_key.create" | "api_key.reveal" | "api_key.rotate" | "api_key.delete" | "license.create" | "license.update" | "license.suspend" | "license.reinstate" | "license.revoke" | "license.renew" | "license.rotate_key" | "license.import" | "license.delete" | "activation.release" | "offline_file.issue" | "customer.erase" | "product.put" | "product.delete" | "webhook.create" | "webhook.reveal" | "webhook.update" | "webhook.rotate_secret" | "webhook.test" | "webhook.resend" | "webhook.delete" | "checkout.start" | "payment.receive" | "payment.fail" | "subscription.renew" | "subscription.cancel" | "subscription.end" | "plan.change" | "plan.grant" | "accounts.search" | "secrets.reseal";
                /** @description The earliest time, or the first day in UTC. */
                from?: string;
                /** @description The latest time, or the last day in UTC. */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of entries. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditLog"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    changePassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangePassword"];
            };
        };
        responses: {
            /** @description The password has changed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasswordChanged"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    forgotPassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ForgotPassword"];
            };
        };
        responses: {
            /** @description If an account has the email address, it gets an email. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MailAccepted"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    resetPassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResetPassword"];
            };
        };
        responses: {
            /** @description The account and a new session. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    verifyEmail: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VerifyEmail"];
            };
        };
        responses: {
            /** @description The email address is verified. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmailVerified"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    resendVerification: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The email is on its way. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MailAccepted"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    changeEmail: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeEmail"];
            };
        };
        responses: {
            /** @description The new address gets an email. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MailAccepted"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    eraseCustomer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EraseCustomer"];
            };
        };
        responses: {
            /** @description The customer is erased. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErasedCustomer"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sessions, newest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Sessions"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    endOtherSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sessions have ended. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndedSessions"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    endSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session has ended. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndedSession"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    loginTwoFactor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TwoFactorLogin"];
            };
        };
        responses: {
            /** @description The account and a new session. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    startTwoFactor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The new secret. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TwoFactorSecret"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    disableTwoFactor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DisableTwoFactor"];
            };
        };
        responses: {
            /** @description Two-factor authentication is off. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TwoFactorOff"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    confirmTwoFactor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConfirmTwoFactor"];
            };
        };
        responses: {
            /** @description Ten recovery codes. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecoveryCodes"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getRegions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The home region, the open branches, and the calls by region. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Regions"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    moveHome: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MoveHome"];
            };
        };
        responses: {
            /** @description The account is moving, or its home is there already. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HomeRegion"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listApiKeys: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of API keys. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyList"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CreateApiKey"];
            };
        };
        responses: {
            /** @description The API key, unmasked. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevealedApiKey"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    revealApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The API key, unmasked. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevealedApiKey"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The API key is deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedApiKey"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    rotateApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RotateApiKey"];
            };
        };
        responses: {
            /** @description The new API key, unmasked. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevealedApiKey"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getDashboard: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Usage, license counts, webhook figures, and recent events. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Dashboard"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getDeveloperProgress: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The first steps and which of them are done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeveloperProgress"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getOnboarding: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The base URL, the newest API key (masked), the next step, and code snippets. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Onboarding"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getBilling: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The account’s plan, subscription, and payments. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Billing"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    initPayment: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InitPayment"];
            };
        };
        responses: {
            /** @description The pending payment and the URL of its checkout. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedPayment"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    cancelSubscription: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CancelSubscription"];
            };
        };
        responses: {
            /** @description The canceled subscription and the time at which it ends. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CancelledSubscription"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    stripeNotification: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The notification was accepted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Received"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    sandboxNotification: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The notification was accepted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Received"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The account’s webhooks, newest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookList"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateWebhook"];
            };
        };
        responses: {
            /** @description The webhook and its signing secret. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevealedWebhook"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    revealWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook and its signing secret. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevealedWebhook"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook is deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedWebhook"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    patchWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PatchWebhook"];
            };
        };
        responses: {
            /** @description The updated webhook. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook and its new signing secret. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevealedWebhook"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery of the test event. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of deliveries. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryList"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    resendDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery, due now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listenForEvents: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the previous call. Without it, the call starts to listen. */
                cursor?: string;
                /** @description Seconds to wait for an event if there are none. */
                wait?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Up to 100 events that arrived after the cursor. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewEvents"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    exportAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Lines of JSON. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["ExportLine"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    verifyLicense: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApplicationCall"];
            };
        };
        responses: {
            /** @description The verdict on the license and the machine. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VerifyAnswer"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    activateLicense: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApplicationCall"];
            };
        };
        responses: {
            /** @description The verdict on the license and the machine. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApplicationVerdict"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    sendHeartbeat: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApplicationCall"];
            };
        };
        responses: {
            /** @description The verdict on the license and the machine. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApplicationVerdict"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deactivateLicense: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApplicationCall"];
            };
        };
        responses: {
            /** @description The verdict on the license and the machine. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApplicationVerdict"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    importLicenses: {
        parameters: {
            query?: {
                /** @description What happens to a line whose license key or product code exists with other values: the line fails, is skipped, or updates what exists. An update leaves absent fields as they are. */
                on_conflict?: "fail" | "skip" | "update";
                /** @description With `true`, nothing is changed, and the answer says what would happen. */
                dry_run?: "true" | "false";
                /** @description With `true`, each new license sends `license.created`. */
                events?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-ndjson": components["schemas"]["ImportFile"];
                "text/csv": components["schemas"]["ImportFile"];
            };
        };
        responses: {
            /** @description Lines of JSON, one for each line. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["ImportResult"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createLicense: {
        parameters: {
            query?: never;
            header?: {
                /** @description A retry with the same key within 24 hours returns the same license. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CreateLicense"];
            };
        };
        responses: {
            /** @description The license. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["License"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listLicenses: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                status?: "active" | "expired" | "suspended" | "revoked";
                /** @description Finds licenses by a part of one of these fields: `license_key`, `product`, `customer_email`, `customer_name`. Upper and lower case don’t matter. One or two characters match only the beginning. A complete license key or email address finds only its own licenses. A page of results can have fewer licenses than `limit`, or none, although more follow: the list ends where `next_cursor` is null. */
                q?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of licenses. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LicenseList"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getLicense: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The license. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["License"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteLicense: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The license is deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedLicense"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    patchLicense: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PatchLicense"];
            };
        };
        responses: {
            /** @description The updated license. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["License"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getLicenseHistory: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the license’s history. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LicenseHistory"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    rotateLicenseKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RotateKey"];
            };
        };
        responses: {
            /** @description The license with its new key. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["License"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    renewLicense: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RenewLicense"];
            };
        };
        responses: {
            /** @description The updated license. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["License"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    suspendLicense: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The updated license. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["License"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    reinstateLicense: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The updated license. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["License"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    revokeLicense: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The updated license. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["License"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listActivations: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of activations. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActivationList"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listSeatHistory: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of changes. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SeatHistory"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    releaseActivation: {
        parameters: {
            query?: {
                /** @description With `true`, also releases a seat that an offline file holds. */
                force?: "true" | "false";
            };
            header?: never;
            path: {
                id: string;
                activation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The seat is free. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedActivation"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    issueOfflineToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["OfflineToken"];
            };
        };
        responses: {
            /** @description The token. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OfflineTokenFile"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listProducts: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of products. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProductList"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getProduct: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                code: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The product. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Product"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    putProduct: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                code: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PutProduct"];
            };
        };
        responses: {
            /** @description The replaced product. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Product"];
                };
            };
            /** @description The new product. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Product"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteProduct: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                code: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The product is deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedProduct"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getKeySet: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key set. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeySet"];
                };
            };
            /** @description The call failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}
